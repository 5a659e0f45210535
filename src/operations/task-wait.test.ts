import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Actor } from '#domain/actor.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { ERROR_CODES, type ForgeError, isForgeError } from '#kernel/errors.ts';
import { memoryStore, type MemoryStoreUnderTest } from '../../tests/support/memory-store.ts';
import type { OperationContext } from './operation.ts';
import { taskResult } from './task-result.ts';
import { taskWait } from './task-wait.ts';

const ACTOR: Actor = { kind: 'agent', name: 'w', named: true };
const VIEW = { color: false, columns: 200, now: 0 };

describe('task wait', () => {
  it('answers at once when it is so already', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const open = await wait(temp, { id, status: 'open', timeout_seconds: 0 });
    expect(open).toMatchObject({ id, status: 'open', state: 'todo', event: null });
    expect(taskWait.text(open, VIEW)).toBe(`${id} is open (todo)`);
    await close(temp, id);
    expect(await wait(temp, { id })).toMatchObject({ status: 'closed', close_reason: 'done' });
  });

  it('sees what another connection does while it waits', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const waiting = wait(temp, { id, timeout_seconds: 60 });
    await close(temp, id);
    expect(await waiting).toMatchObject({ status: 'closed', state: 'done' });
  });

  it('[L14] gives up in time, and says where the task is, with a status that nothing repeats by itself', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    expect(await failure(wait(temp, { id, timeout_seconds: 0 }))).toMatchObject({
      code: 'wait_timeout',
      message: `${id} is todo after 0 s; waited for closed`,
      details: { status: 'open' },
    });
    expect(ERROR_CODES.wait_timeout.http).toBe(409);
  });

  it('does not wait for what a closed task will not become', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const waiting = failure(wait(temp, { id, state: 'review', timeout_seconds: 60 }));
    await close(temp, id);
    expect(await waiting).toMatchObject({ code: 'state_invalid', details: { state: 'done' } });
  });

  it('misses no event between two waits', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const comment = (body: string) => temp.store.addComment({ id, body, reply_to: null }, writer(temp));
    await comment('before');
    expect(await failure(wait(temp, { id, event: 'any', timeout_seconds: 0 }))).toMatchObject({
      code: 'wait_timeout',
    });
    const first = await wait(temp, { id, event: 'task.commented', after: 0 });
    expect(first).toMatchObject({ event: { type: 'task.commented', triggered_by: 'agent:w' } });
    await comment('one');
    await close(temp, id);
    const second = await wait(temp, { id, event: 'any', after: first.seq });
    expect(second.event).toMatchObject({ type: 'task.commented' });
    const third = await wait(temp, { id, event: 'any', after: second.seq });
    expect(third.event?.type).not.toBe('task.commented');
    expect(third.seq).toBeGreaterThan(second.seq);
    const waiting = wait(temp, { id, event: 'task.commented', after: third.seq, timeout_seconds: 60 });
    await comment('two');
    expect((await waiting).event?.summary).toContain('two');
  });

  it('reads nothing of its task for events of others, and never its texts and its history', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const other = await create(temp);
    for (const wish of [{}, { event: 'task.closed' }]) {
      const asked: string[] = [];
      const watched = { ...temp, store: noting(temp.store, asked) };
      const waiting = wait(watched, { id, ...wish, timeout_seconds: 60 });
      const count = (name: string): number => asked.filter((one) => one === name).length;
      await until(() => asked.includes('readPlace'));
      for (let round = 1; round <= 3; round += 1) {
        await temp.store.addComment({ id: other, body: 'x', reply_to: null }, writer(temp));
        await until(() => count('hasNewsOf') >= round);
      }
      expect(count('readPlace')).toBe(1);
      await temp.store.addComment({ id, body: 'x', reply_to: null }, writer(temp));
      await until(() => count('readPlace') === 2);
      await close(temp, id);
      expect(await waiting).toMatchObject({ status: 'closed' });
      expect(asked).not.toContain('getTask');
      expect(asked).not.toContain('readHistory');
      await temp.store.reopenTask({ id, reason: null }, writer(temp));
    }
  });

  it('looks again where an event is about no single task', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const asked: string[] = [];
    const waiting = wait({ ...temp, store: noting(temp.store, asked) }, { id, timeout_seconds: 60 });
    await until(() => asked.includes('readPlace'));
    await temp.store.noteEvent({ type: 'project.changed', data: {} }, writer(temp));
    await until(() => asked.filter((one) => one === 'readPlace').length === 2);
    await close(temp, id);
    expect(await waiting).toMatchObject({ status: 'closed' });
  });

  it('ends when nobody waits any more, and refuses two wishes at once', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    const leave = new AbortController();
    const waiting = failure(wait(temp, { id, timeout_seconds: 3_600 }, leave.signal));
    leave.abort();
    expect(await waiting).toMatchObject({ code: 'interrupted' });
    expect(await failure(wait(temp, { id, status: 'open', state: 'todo' }))).toMatchObject({ code: 'usage' });
    expect(await failure(wait(temp, { id, after: 3 }))).toMatchObject({ code: 'usage' });
    expect(await failure(wait(temp, { id: 'fg-none' }))).toMatchObject({ code: 'not_found' });
  });
});

describe('task result', () => {
  it('has the newest comments and moves, and escapes the text of others', async () => {
    await using temp = await memoryStore();
    const id = await create(temp);
    for (let at = 1; at <= 7; at += 1) {
      temp.clock.advance(1_000);
      await temp.store.addComment({ id, body: `comment ${at} \u001b[31m`, reply_to: null }, writer(temp));
    }
    await close(temp, id);
    const result = await taskResult.run(context(temp), { id });
    expect(result).toMatchObject({ id, finished: true, state: 'done', close_reason: 'done' });
    expect(result.comments.map(({ body }) => body.slice(0, 9))).toEqual(
      [3, 4, 5, 6, 7].map((at) => `comment ${at}`),
    );
    expect(result.transitions).toMatchObject([{ from_state: 'todo', to_state: 'done', reason: 'done' }]);
    const text = taskResult.text(result, VIEW);
    expect(text).not.toContain('\u001b');
    expect(text).toContain('todo -> done');
    const asked: string[] = [];
    const watched = { ...temp, store: noting(temp.store, asked) };
    expect((await taskResult.run(context(watched), { id, limit: 1 })).comments).toHaveLength(1);
    expect(asked).not.toContain('getTask');
    expect(asked).not.toContain('readHistory');
  });
});

/** The same store, with the names of the methods that were called. */
function noting(store: MemoryStoreUnderTest['store'], asked: string[]): MemoryStoreUnderTest['store'] {
  return new Proxy(store, {
    get(target, name) {
      asked.push(String(name));
      return Reflect.get(target, name) as unknown;
    },
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

function writer(temp: Pick<MemoryStoreUnderTest, 'clock'>) {
  return { actor: ACTOR, now: temp.clock.now() };
}

async function create(temp: MemoryStoreUnderTest): Promise<string> {
  const task = await temp.store.createTask(
    {
      id_prefix: 'fg',
      title: 'x',
      description: '',
      type: 'task',
      priority: 2,
      state: 'todo',
      parent_id: null,
      assignee: null,
      labels: [],
      github_issue: null,
      depends_on: [],
      metadata: new Map(),
    },
    writer(temp),
  );
  return task.id;
}

async function close(temp: MemoryStoreUnderTest, id: string): Promise<void> {
  await temp.store.closeTask({ id, reason: 'done' }, writer(temp));
}

/** Both only read: no actor and no host is asked for. */
function context(
  temp: Pick<MemoryStoreUnderTest, 'store' | 'clock'>,
  signal?: AbortSignal,
): OperationContext {
  const project = { store: temp.store, workflow: () => DEFAULT_RESOLVED };
  return { clock: temp.clock, project, signal } as unknown as OperationContext;
}

function wait(
  temp: Pick<MemoryStoreUnderTest, 'store' | 'clock'>,
  input: Parameters<typeof taskWait.run>[1],
  signal?: AbortSignal,
) {
  return taskWait.run(context(temp, signal), input);
}

async function failure(act: Promise<unknown>): Promise<ForgeError | string> {
  try {
    await act;
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
  return 'it did not fail';
}
