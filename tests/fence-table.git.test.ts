import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import { startProjectHttp, type ProjectHttp } from './support/http-server.ts';
import { runTestGit } from './support/temp-repo.ts';
import { callByCli, callByHttp, callByMcp, type SurfaceCall } from './support/surface-callers.ts';

/** Whatever writes on a task takes the number of the claim, and refuses one that is over; on every surface. */

let http: ProjectHttp;
beforeAll(async () => {
  http = await startProjectHttp();
  runTestGit(http.root, ['commit', '-q', '--allow-empty', '-m', 'first']);
  await call('agent.add', { name: 'idle', executor: 'null' });
});
afterAll(async () => http[Symbol.asyncDispose]());

/** All that change a task which the caller names, itself or by an attempt at it. */
const WRITES: readonly Declaration[] = OPERATIONS.filter(
  ({ access, http: route }) => access !== 'read' && /^\/(tasks|attempts)\/\{/.test(route?.path ?? ''),
);

/** What each needs besides the task and the number. */
const INPUTS: Readonly<Record<string, (other: string) => object>> = {
  'task.claim': () => ({}),
  'task.release': () => ({}),
  'task.update': () => ({ title: 'Late', metadata_set: { late: true } }),
  'task.close': () => ({ reason: 'late' }),
  'task.reopen': () => ({}),
  'task.delete': () => ({}),
  'task.comment': () => ({ body: 'Late' }),
  'task.transition': () => ({ state: 'blocked' }),
  'task.cancel': () => ({}),
  'task.archive': () => ({}),
  'task.unarchive': () => ({}),
  'task.assign': () => ({ role: 'reviewer', user: 'ann' }),
  'task.heartbeat': () => ({}),
  'dep.add': (to_id) => ({ to_id }),
  'dep.remove': (to_id) => ({ to_id }),
  'conflict.resolve': () => ({}),
  'attempt.start': () => ({ agent: 'idle' }),
  'task.review': () => ({ verdict: 'pass' }),
  'task.restore': () => ({}),
  'attempt.pick': () => ({}),
};

describe('every operation that writes on a task', () => {
  it('[O10a] takes the number of the claim', () => {
    const names = WRITES.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(15);
    expect(WRITES.filter(({ input }) => !('fence' in input.shape)).map(({ name }) => name)).toEqual([]);
    expect(names.toSorted()).toEqual(Object.keys(INPUTS).toSorted());
  });

  it('says that it may be refused by it', () => {
    const silent = WRITES.filter(({ errors }) => !errors.includes('fence_conflict'));
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('takes it as a tool, too', () => {
    const tools = WRITES.flatMap(({ name, mcp }) => (mcp?.fields === undefined ? [] : [{ name, mcp }]));
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.filter(({ mcp }) => mcp.fields?.includes('fence') !== true).map(({ name }) => name)).toEqual(
      [],
    );
  });

  const SURFACES: Readonly<
    Record<string, () => (...call: Parameters<SurfaceCall>) => Promise<unknown> | undefined>
  > = {
    'the command line': () => callByCli(http),
    REST: () => callByHttp(http),
    MCP: () => callByMcp(http),
  };

  it.each(
    Object.keys(SURFACES).flatMap((surface) =>
      WRITES.filter((one) => isThere(surface, one)).map(({ name }) => [surface, name] as const),
    ),
  )('over %s: %s with an old number changes nothing', async (surface, name) => {
    const other = ((await call('task.create', { title: 'Other' })) as Task).id;
    const { id } = (await call('task.create', { title: 'Held', depends_on: [] })) as Task;
    const attempt = name === 'attempt.pick' ? await startAttempt(id) : undefined;
    const claim = async (assignee: string) =>
      (await call('task.claim', { id, assignee, lease: 60 })) as Task & { fence: number };
    const { fence: stale } = await claim('zombie');
    await call('task.release', { id, force: true });
    const { fence: now } = await claim('holder');
    expect(now).toBeGreaterThan(stale);
    if (name === 'dep.remove') await call('dep.add', { from_id: id, to_id: other, type: 'related' });
    if (name === 'task.restore') await call('task.delete', { id });
    const before = await look(id);
    const of = attempt === undefined ? (name.startsWith('dep.') ? { from_id: id } : { id }) : { attempt };
    const input = { ...of, ...INPUTS[name]?.(other), fence: stale };
    const answer = await SURFACES[surface]?.()(name, input);
    expect([name, answer]).toMatchObject([
      name,
      { error: { code: 'fence_conflict', details: { id, fence: now, assignee: 'holder' } } },
    ]);
    expect(await look(id)).toEqual(before);
    // With the number of the claim it is not refused for that.
    const right = await SURFACES[surface]?.()(name, { ...input, fence: now });
    expect([name, right]).not.toMatchObject([name, { error: { code: 'fence_conflict' } }]);
  });
});

function isThere(surface: string, { name, mcp }: Declaration): boolean {
  if (surface === 'MCP') return mcp !== undefined;
  // Nothing stays to watch an agent that a command line would start.
  return surface === 'REST' || name !== 'attempt.start';
}

/** By an agent that ends at once; the task is ready again then. */
async function startAttempt(id: string): Promise<string> {
  const { attempt_id } = (await call('attempt.start', { id, agent: 'idle' })) as { attempt_id: string };
  await expect
    .poll(async () => ((await call('task.show', { id })) as Task).state, { timeout: 20_000 })
    .not.toBe('in_progress');
  await call('task.release', { id, force: true });
  return attempt_id;
}

function call(name: string, input: Readonly<Record<string, unknown>>): Promise<unknown> {
  return callByHttp(http)(name, input);
}

async function look(id: string): Promise<unknown> {
  const events = (await call('event.list', { limit: 1 })) as unknown;
  return { task: await call('task.show', { id }), history: await call('task.history', { id }), events };
}
