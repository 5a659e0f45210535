import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { startProjectHttp, type ProjectHttp } from './support/http-server.ts';
import { callAsAgentByCli } from './support/surface-callers.ts';

let http: ProjectHttp;
let token: string;
let reviewer: string;
beforeAll(async () => {
  http = await startProjectHttp();
  ({ token } = await http.token('task', 'ext1'));
  ({ token: reviewer } = await http.token('task', 'ext2'));
  await ask('POST', '/agents', { name: 'ext2' }, http.admin);
}, 60_000);
afterAll(() => http[Symbol.asyncDispose]());

type Answer = { readonly code?: string; readonly state?: string };

async function ask(method: string, path: string, body: object, as = token): Promise<Answer> {
  const { json } = await http.ask({ method, path: `/api/v1${path}`, token: as, body });
  const answer = json as Answer & { task?: Answer };
  return answer.task ?? answer;
}

async function callTool(tool: string, input: object, as = token): Promise<Answer> {
  const { json } = await http.ask({
    method: 'POST',
    path: '/mcp',
    token: as,
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: input } },
  });
  const { result } = json as { result: { content: { text: string }[] } };
  const answer = JSON.parse(result.content[0]?.text ?? '') as Answer & { error?: Answer; task?: Answer };
  return answer.error ?? answer.task ?? answer;
}

const cli = (name: string, input: object): Promise<Answer> =>
  callAsAgentByCli(http, 'ext1')(name, input as Record<string, unknown>) as Promise<Answer>;

/** Every way there is to end a task, or to have it merged. */
const CLOSES: readonly [string, (id: string) => Promise<Answer>][] = [
  ['POST /close', (id) => ask('POST', `/tasks/${id}/close`, { reason: 'done' })],
  ['PATCH status', (id) => ask('PATCH', `/tasks/${id}`, { status: 'closed', reason: 'done' })],
  ['forge_close', (id) => callTool('forge_close', { id, reason: 'done' })],
  ['forge task close', (id) => cli('task.close', { id, reason: 'done' })],
  ['forge task close --force', (id) => cli('task.close', { id, reason: 'done', force: true })],
  ['forge task update --status', (id) => cli('task.update', { id, status: 'closed' })],
];
const MERGES: readonly [string, (id: string) => Promise<Answer>][] = [
  ['POST /transition', (id) => ask('POST', `/tasks/${id}/transition`, { status: 'merging' })],
  ['forge_transition', (id) => callTool('forge_transition', { id, state: 'merging' })],
  ['forge task transition', (id) => cli('task.transition', { id, state: 'merging' })],
];

/** Claimed by the agent. */
async function claimed(gated: 'by nothing' | 'by a reviewer' | 'by its checks'): Promise<string> {
  const config = gated === 'by its checks' ? { review_config: { ci_steps: ['true'] } } : {};
  const create = { title: 'T', ...config };
  const { id } = (await ask('POST', '/projects/demo/tasks', create, http.admin)) as Task;
  if (gated === 'by a reviewer')
    await ask('POST', `/tasks/${id}/roles/reviewer`, { agent_id: 'ext2' }, http.admin);
  await ask('POST', `/tasks/${id}/claim`, {});
  return id;
}

const stateOf = async (id: string): Promise<string | undefined> =>
  (await ask('GET', `/tasks/${id}`, {}, http.admin)).state;

describe('[H1] an external agent with a task of its own', () => {
  it.each(CLOSES)('closes what nothing gates by %s', async (_, close) => {
    expect(await close(await claimed('by nothing'))).toMatchObject({ state: 'done' });
  });

  for (const gated of ['by a reviewer', 'by its checks'] as const) {
    it.each(CLOSES)(`does not close what is gated ${gated} by %s`, async (_, close) => {
      const id = await claimed(gated);
      expect((await close(id)).code).toBe('permission_denied');
      expect(await stateOf(id)).toBe('in_progress');
    });
  }

  it.each(MERGES)(
    'does not get into merging by %s, nor closes it, before and after the reviewer has spoken',
    async (_, merge) => {
      const id = await claimed('by a reviewer');
      await ask('POST', `/tasks/${id}/transition`, { status: 'review' });
      expect((await merge(id)).code).toMatch(/permission_denied|state_invalid/);
      for (const [, close] of CLOSES) expect((await close(id)).code).toBe('permission_denied');
      // It is not the one who says that it is good.
      expect((await callTool('forge_review', { id, verdict: 'pass' })).code).toBe('permission_denied');
      expect((await ask('POST', `/tasks/${id}/verdict`, { verdict: 'pass', force: true })).code).toBe(
        'permission_denied',
      );
      expect((await cli('task.review', { id, verdict: 'pass', force: true })).code).toBe('permission_denied');
      expect(await callTool('forge_review', { id, verdict: 'pass' }, reviewer)).toMatchObject({
        state: 'review',
      });
      expect((await merge(id)).code).toMatch(/permission_denied|state_invalid/);
      expect(await stateOf(id)).toBe('review');
      expect(await ask('POST', `/tasks/${id}/close`, { reason: 'done' })).toMatchObject({ state: 'done' });
    },
  );

  it('a person with less than every right does not speak for the reviewer', async () => {
    const id = await claimed('by a reviewer');
    await ask('POST', `/tasks/${id}/transition`, { status: 'review' });
    const { token: exec } = await http.token('exec');
    const verdict = { verdict: 'pass', force: true };
    expect((await ask('POST', `/tasks/${id}/verdict`, verdict, exec)).code).toBe('permission_denied');
    expect(await ask('POST', `/tasks/${id}/verdict`, verdict, http.admin)).toMatchObject({ state: 'review' });
  });
});
