import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { createSecrets } from '#engine/agent-secrets.ts';
import { claimTask } from '#engine/change-task.ts';
import type { RunSocket } from '#engine/work.ts';
import { LIMITS } from '#kernel/limits.ts';
import { RUN_SOCKET_KEY } from '#process/find-own-run.ts';
import { tempWorkshop, type TempWorkshop } from '../../../tests/support/temp-workshop.ts';
import { openRunSocket } from './open-run-socket.ts';
import type { RunCallerDeps } from './run-caller.ts';

const NEW_TASK = {
  id_prefix: 'fg',
  type: 'task',
  priority: 2,
  state: 'todo',
  parent_id: null,
  assignee: null,
  labels: [],
  github_issue: null,
  depends_on: [],
  metadata: new Map(),
} as const;

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** The socket of a run on this task, by an agent of the name that has created it. */
function open({ id: task_id, created_by }: Task, more: Partial<Run> = {}): Promise<RunSocket> {
  const { store, home } = shop.place;
  // Only what these calls look at.
  const project = { store, paths: { root: shop.repo.path }, workflow: shop.place.workflow };
  const secrets = createSecrets([]);
  const deps = { project, place: { home }, machine: {}, secrets } as unknown as RunCallerDeps;
  return openRunSocket(deps, { task_id, agent: created_by, fence: 1, ...more } as Run);
}

/** The code of the error that a call is answered with; of a list its length. */
async function call(socketPath: string, key: string, name: string, input: object): Promise<unknown> {
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const path = `/api/v1/operations/${name}`;
    const asking = request({ socketPath, path, method: 'POST', headers }, (response) => {
      let body = '';
      response.on('data', (part: Buffer) => (body += part.toString()));
      response.on('end', () => resolve(body));
    });
    asking.on('error', reject);
    asking.end(JSON.stringify(input));
  });
  const answer = JSON.parse(text) as { code?: string } | unknown[];
  return Array.isArray(answer) ? answer.length : answer.code;
}

describe('[A2] the socket of a run', () => {
  it('[B9] has the limits of an answer: a list that is too large is refused, and a part of it is not', async () => {
    const task = await shop.create('Mine');
    const description = 'x'.repeat(1_000_000);
    for (let at = 0; at < LIMITS.answer_bytes / 1_000_000; at += 1)
      await shop.place.store.createTask(
        { ...NEW_TASK, title: `large ${at}`, description },
        { actor: { kind: 'user', name: 'ann', named: false }, now: at },
      );
    await using socket = await open(task, { id: 'run-1' });
    const ask = (input: object) => call(socket.path, socket.env[RUN_SOCKET_KEY] ?? '', 'task.list', input);
    expect(await ask({})).toBe('too_large');
    expect(await ask({ limit: 4 })).toBe(4);
  });

  it('[B8] [B9] bounds the waits of a run, and what its programs leave unread', async () => {
    const task = await shop.create('Mine');
    await using socket = await open(task, { id: 'run-1' });
    const key = socket.env[RUN_SOCKET_KEY] ?? '';
    const wait = () => call(socket.path, key, 'task.wait', { id: task.id, timeout_seconds: 3_600 });
    const waits = Array.from({ length: LIMITS.waits_a_token + 1 }, () => wait().catch(() => 'cut'));
    expect(await Promise.race(waits)).toBe('too_many_requests');
    await socket[Symbol.asyncDispose]();
    expect((await Promise.all(waits)).filter((one) => one === 'cut')).toHaveLength(LIMITS.waits_a_token);
  });

  it('answers those alone that have its key, and leaves nothing behind', async () => {
    const task = await shop.create('Mine');
    const { id } = task;
    const socket = await open(task);
    const key = socket.env[RUN_SOCKET_KEY] ?? '';
    for (const wrong of ['', 'x'.repeat(key.length), key.slice(1), `${key}x`])
      expect(await call(socket.path, wrong, 'task.cancel', { id })).toBe('unauthorized');
    expect(await call(socket.path, key, 'task.cancel', { id })).toBe('permission_denied');
    expect(await call(socket.path, key, 'task.invented', { id })).toBe('not_found');
    await socket[Symbol.asyncDispose]();
    expect(existsSync(dirname(socket.path))).toBe(false);
  });

  it('lets no agent change what its run is to do, also where it has created the task itself', async () => {
    const task = await shop.create('Mine');
    await using socket = await open(task);
    const key = socket.env[RUN_SOCKET_KEY] ?? '';
    const easy = { id: task.id, title: 'Easy' };
    expect(await call(socket.path, key, 'task.update', easy)).toBe('permission_denied');
  });

  it('[S2-F13] lets no agent say where a text came from', async () => {
    const ada = shop.as({ kind: 'agent', name: 'ada', named: true });
    const task = await shop.create('Mine');
    const claimed = await claimTask(ada, { id: task.id, assignee: 'ada', force: false, lease_ms: 600_000 });
    await using socket = await open(task, { agent: 'ada', fence: 'fence' in claimed ? claimed.fence : 0 });
    const ask = (name: string, input: object): Promise<unknown> =>
      call(socket.path, socket.env[RUN_SOCKET_KEY] ?? '', name, input);
    const { id } = task;
    expect(await ask('task.update', { id, metadata_unset: ['beads_id'] })).toBe('permission_denied');
    expect(await ask('task.update', { id, metadata_set: { text_from: 'x' } })).toBe('permission_denied');
    expect(await ask('task.create', { title: 'x', metadata_set: { beads_id: 1 } })).toBe('permission_denied');
    expect(await ask('task.update', { id, metadata_unset: ['note'] })).toBeUndefined();
  });

  it('writes nothing on a task that the run has lost, whichever claim the agent names', async () => {
    const ada = shop.as({ kind: 'agent', name: 'ada', named: true });
    const task = await shop.create('Mine');
    const claimed = await claimTask(ada, { id: task.id, assignee: 'ada', force: false, lease_ms: 600_000 });
    const fence = 'fence' in claimed ? claimed.fence : 0;
    for (const [held, code] of [
      [fence, undefined],
      [fence - 1, 'fence_conflict'],
    ] as const) {
      await using socket = await open(task, { agent: 'ada', fence: held });
      const key = socket.env[RUN_SOCKET_KEY] ?? '';
      expect(await call(socket.path, key, 'task.heartbeat', { id: task.id, fence })).toBe(code);
    }
  });
});
