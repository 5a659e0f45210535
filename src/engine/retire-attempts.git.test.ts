import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { findIdentity } from '#process/process-identity.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import { goneProcess } from '../../tests/support/dying-store.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openWorkspace } from './attempt-workspace.ts';
import { removeOverdue, stopRuns } from './retire-attempts.ts';
import { systemWriter } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** Another process that is there, and does nothing about what it is asked. */
function living(): ProcessMark {
  const mark = findIdentity(process.ppid);
  if (mark === undefined) throw new Error('this process has no parent');
  return mark;
}

/** A run in an attempt of its own that a process watches which does not answer. */
async function addRun({ id: task_id }: Task, process: ProcessMark | undefined): Promise<Run> {
  const { store } = shop.place;
  const by = systemWriter(shop.place);
  const attempt_id = crypto.randomUUID();
  const place = { name: `a-${attempt_id}`, path: `/none/${attempt_id}`, target: 'main', port: null };
  const base_commit = shop.repo.git('rev-parse', 'HEAD');
  await store.startAttempt({ id: attempt_id, task_id, agent: 'w1', base_commit, ...place }, by);
  const made = { id: crypto.randomUUID(), task_id, attempt_id, agent: 'w1', role: 'coder' };
  const how = { executor: 'shell', fence: null, in_state: null, session_id: null, watcher: living() };
  const run = await store.createRun({ ...made, ...how, state: 'scheduled' }, by);
  if (process !== undefined) await store.noteRun({ id: run.id, process });
  return store.moveRun({ id: run.id, to: 'running' }, by);
}

describe('runs whose watcher does not answer', () => {
  it('are ended from here where their program is here and gone, and not where that cannot be known', async () => {
    const [task, other] = [await shop.create('Stuck'), await shop.create('Other')];
    const runs = {
      gone: await addRun(task, goneProcess()),
      unknown: await addRun(task, undefined),
      elsewhere: await addRun(task, { ...goneProcess(), host: 'elsewhere' }),
      before: await addRun(task, { ...goneProcess(), boot_id: 'another' }),
      alive: await addRun(task, living()),
      other: await addRun(other, goneProcess()),
    };
    await stopRuns(shop.place, { task_id: task.id });
    const states = Object.entries(runs).map(async ([name, { id }]) => {
      const { state, message } = await shop.place.store.getRun(id);
      return [name, state, message];
    });
    const open = (name: string) => [name, 'running', null];
    expect(await Promise.all(states)).toEqual([
      ['gone', 'cancelled', 'Stopped by another process: its watcher did not answer'],
      ...['unknown', 'elsewhere', 'before', 'alive', 'other'].map(open),
    ]);
  });
});

describe('a folder whose time has come', () => {
  it('is removed, unless this process or another is at work on its task', async () => {
    const task = await shop.create('Overdue');
    const { attempt } = await openWorkspace(shop.place, { task, agent: null });
    const { store, clock } = shop.place;
    const cleanup_at = toIso(clock.now() - 1);
    await store.changeAttempt({ id: attempt.id, state: 'archived', cleanup_at }, systemWriter(shop.place));
    expect(await removeOverdue(shop.place, () => true)).toEqual([]);
    await store.takeWatch({ task_id: task.id, watcher: living() }, clock.now());
    expect(await removeOverdue(shop.place)).toEqual([]);
    expect(existsSync(attempt.path)).toBe(true);
    await store.noteUnwatched({ task_id: task.id, watcher: living() });
    expect(await removeOverdue(shop.place)).toMatchObject([{ id: attempt.id }]);
    expect(existsSync(attempt.path)).toBe(false);
  });
});
