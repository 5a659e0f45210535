import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import { startProjectHttp, type ProjectHttp } from './support/http-server.ts';
import { callByCli, callByHttp, callByMcp, type SurfaceCall } from './support/surface-callers.ts';

/** Whatever writes on a task takes the number of the claim, and refuses one that is over; on every surface. */

let http: ProjectHttp;
beforeAll(async () => {
  http = await startProjectHttp();
  await call('agent.add', { name: 'idle', executor: 'null' });
});
afterAll(async () => http[Symbol.asyncDispose]());

/** Why an operation needs none. */
const WITHOUT: Readonly<Record<string, string>> = {
  'task.restore': 'a task that is deleted has no claim',
};

/** All that change a task which the caller names. */
const WRITES: readonly Declaration[] = OPERATIONS.filter(
  ({ access, http: route }) => access !== 'read' && route?.path.startsWith('/tasks/{') === true,
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
};

describe('every operation that writes on a task', () => {
  it('takes the number of the claim', () => {
    const names = WRITES.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(15);
    expect(WRITES.filter(({ input }) => !('fence' in input.shape)).map(({ name }) => name)).toEqual(
      Object.keys(WITHOUT),
    );
    expect(names.filter((name) => !(name in WITHOUT)).toSorted()).toEqual(Object.keys(INPUTS).toSorted());
  });

  it('says that it may be refused by it', () => {
    const silent = WRITES.filter(
      ({ name, errors }) => !(name in WITHOUT) && !errors.includes('fence_conflict'),
    );
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
    const claim = async (assignee: string) =>
      (await call('task.claim', { id, assignee, lease: 60 })) as Task & { fence: number };
    const { fence: stale } = await claim('zombie');
    await call('task.release', { id, force: true });
    const { fence: now } = await claim('holder');
    expect(now).toBeGreaterThan(stale);
    if (name === 'dep.remove') await call('dep.add', { from_id: id, to_id: other, type: 'related' });
    const before = await look(id);
    const of = name.startsWith('dep.') ? { from_id: id } : { id };
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
  if (name in WITHOUT) return false;
  if (surface === 'MCP') return mcp !== undefined;
  // Nothing stays to watch an agent that a command line would start.
  return surface === 'REST' || name !== 'attempt.start';
}

function call(name: string, input: Readonly<Record<string, unknown>>): Promise<unknown> {
  return callByHttp(http)(name, input);
}

async function look(id: string): Promise<unknown> {
  const events = (await call('event.list', { limit: 1 })) as unknown;
  return { task: await call('task.show', { id }), history: await call('task.history', { id }), events };
}
