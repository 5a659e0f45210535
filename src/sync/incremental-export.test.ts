import { NO_AGENTS } from '#domain/claimer.ts';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import type { TaskStore, Writer } from '#store/store.ts';
import type { ChangedLines, Replication } from '#store/replication.ts';
import { seededRandom, type Random } from '../../tests/support/random.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { type CarriedLines, NOTHING_CARRIED } from './carry-lines.ts';
import { exportFiles, type ExportedFiles } from './export-files.ts';
import { NotAsExported, spliceLines } from './splice-lines.ts';
import type { TaskFiles } from './task-files.ts';

describe('an export of what changed', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'writes the bytes of a whole one, whatever happened (seed %i)',
    async (seed) => {
      await using temp = await tempStore();
      const random = seededRandom(seed);
      const files = place(temp, 'changed');
      const ids: string[] = [];
      for (let i = 0; i < 12; i += 1) await step(temp, random, ids);
      await write(temp, files);
      for (let round = 0; round < 12; round += 1) {
        for (let i = random.below(4); i >= 0; i -= 1) await step(temp, random, ids);
        await write(temp, files);
        const whole = place(temp, `whole-${round}`);
        await write(temp, whole, { incremental: false });
        expect(read(files)).toEqual(read(whole));
      }
    },
  );

  it('leaves a file alone that nothing changed in, and knows it for up to date then', async () => {
    await using temp = await tempStore();
    const files = place(temp, 'files');
    const { id } = await temp.store.createTask(task('One'), by(temp));
    await write(temp, files);
    await temp.store.updateTask({ id, title: 'Two' }, by(temp));
    const { tasks, history } = await write(temp, files);
    expect([tasks.changed, history.changed]).toEqual([true, false]);
    const before = statSync(files.tasks).ino;
    expect((await write(temp, files)).tasks.changed).toBe(false);
    expect(statSync(files.tasks).ino).toBe(before);
  });

  it('is a whole one where the events do not tell what changed', async () => {
    await using temp = await tempStore();
    const files = place(temp, 'files');
    const { id } = await temp.store.createTask(task('One'), by(temp));
    await write(temp, files);
    const since = await sync(temp).newestEvent();
    const { id: gone } = await temp.store.createTask(task('Gone'), by(temp));
    await temp.store.deleteTask({ id: gone }, by(temp));
    expect([...((await sync(temp).readChangedTasks(files.tasks, since))?.lines.keys() ?? [])]).toEqual([
      gone,
    ]);
    // Forgotten for good: no event names it.
    await sync(temp).prune(temp.clock.now() + 1_000_000, by(temp));
    expect(await sync(temp).readChangedTasks(files.tasks, since)).toBeUndefined();
    await write(temp, files, { joined: NOTHING_CARRIED });
    expect(read(files).tasks.split('\n').filter(Boolean)).toHaveLength(1);
    expect(read(files).tasks).toContain(id);
  });

  it('is a whole one after hand-written SQL only when it is asked for', async () => {
    await using temp = await tempStore();
    const files = place(temp, 'files');
    const { id } = await temp.store.createTask(task('One'), by(temp));
    await write(temp, files);
    const { id: other } = await temp.store.createTask(task('Other'), by(temp));
    await temp.reopen(() => {
      using db = temp.connect();
      db.prepare("UPDATE tasks SET title = 'By hand' WHERE id = ?").run(id);
    });
    await write(temp, files);
    expect(read(files).tasks).toContain(other);
    expect(read(files).tasks).not.toContain('By hand');
    await temp.store.updateTask({ id: other, title: 'Again' }, by(temp));
    await write(temp, files, { incremental: false });
    expect(read(files).tasks).toContain('By hand');
  });
});

describe('lines put into a file', () => {
  const file = '{"id":"b","n":1}\n{"id":"d","n":1}\n{"id":"d","n":2}\n{"id":"f","n":1}\n';

  it.each([
    ['before all', { a: ['{"id":"a"}'] }, 5],
    ['behind all', { g: ['{"id":"g"}'] }, 5],
    ['between, in the place of several, and none', { c: ['{"id":"c"}'], d: ['{"id":"d"}'], f: [] }, 3],
    ['none at all', {}, 4],
    ['in the place of everything', { b: [], d: [], f: ['{"id":"f","n":2}'] }, 1],
  ])('%s', async (_, change, total) => {
    await using temp = await tempStore();
    const lines = new Map(Object.entries(change as Record<string, string[]>));
    const rest = file.split('\n').filter((one) => one !== '' && !lines.has(one.slice(7, 8)));
    const expected = [...rest, ...[...lines.values()].flat()].sort();
    expect(splice(temp, file, { lines, total, event_seq: 1 })).toBe(
      expected.map((one) => `${one}\n`).join(''),
    );
  });

  it('longer than what is read at a time', async () => {
    await using temp = await tempStore();
    const long = Array.from({ length: 9 }, (_, i) => `{"id":"${i}","text":"${'é'.repeat(300_000 * i)}"}`);
    const lines = new Map([['4', ['{"id":"4"}']]]);
    const text = splice(temp, `${long.join('\n')}\n`, { lines, total: 9, event_seq: 1 });
    expect(text).toBe(`${long.with(4, '{"id":"4"}').join('\n')}\n`);
  });

  it.each([
    ['out of order', '{"id":"d"}\n{"id":"b"}\n', 3],
    ['with carriage returns', '{"id":"b"}\r\n', 2],
    ['without a last newline', '{"id":"b"}', 2],
    ['with a blank line', '{"id":"b"}\n\n', 2],
    ['with a line that is no task', '{"id":"b"}\nwhat?\n', 3],
    ['with an id that has to be read', '{"id":"b\\""}\n', 2],
    ['with more than there should be', '{"id":"b"}\n', 3],
  ])('are refused in a file %s', async (_, text, total) => {
    await using temp = await tempStore();
    const lines = new Map([['a', ['{"id":"a"}']]]);
    expect(() => splice(temp, text, { lines, total, event_seq: 1 })).toThrow(NotAsExported);
  });
});

function splice(temp: TempStore, text: string, changes: ChangedLines): string {
  const path = join(temp.folder, 'spliced.jsonl');
  writeFileSync(path, text);
  const parts: Buffer[] = [];
  // A copy: the reader uses its buffer again.
  const put = (one: string | Uint8Array): void => void parts.push(Buffer.from(one), Buffer.from('\n'));
  spliceLines(path, changes, { start: '{"id":"', write: put });
  return Buffer.concat(parts).toString('utf8');
}

function place(temp: TempStore, name: string): TaskFiles {
  const folder = join(temp.folder, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const [tasks, history] = [join(folder, 'tasks.jsonl'), join(folder, 'history.jsonl')];
  return { tasks, history, copies: temp.folder };
}

function read(files: TaskFiles): { tasks: string; history: string } {
  return { tasks: readFileSync(files.tasks, 'utf8'), history: readFileSync(files.history, 'utf8') };
}

/** On a clock that runs ahead: files that changed just now are not trusted to be as they were. */
async function write(
  temp: TempStore,
  files: TaskFiles,
  options: { incremental?: boolean; joined?: CarriedLines } = {},
): Promise<ExportedFiles> {
  const clock = (): number => Date.now() + 3_600_000;
  return exportFiles(sync(temp), files, {
    by: { ...by(temp), clock },
    source: { repo: undefined, findHeld: async () => undefined, readCommitted: async () => [] },
    canonical: true,
    incremental: true,
    ...options,
  });
}

function sync(temp: TempStore): Replication {
  return temp.store as TaskStore & Replication; // openSqliteStore gives both
}

function by(temp: TempStore): Writer {
  temp.clock.advance(1_000);
  return { actor: { kind: 'agent', name: 'ann', named: true }, now: temp.clock.now() };
}

function task(title: string): Parameters<TaskStore['createTask']>[0] {
  return {
    id_prefix: 'fg',
    title,
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
  };
}

/** One write of any kind; what the store refuses changes nothing. */
async function step(temp: TempStore, random: Random, ids: string[]): Promise<void> {
  const { store } = temp;
  const id = ids.length === 0 ? 'fg-none' : random.pick(ids);
  const other = ids.length === 0 ? 'fg-none' : random.pick(ids);
  const steps: (() => Promise<unknown>)[] = [
    async () => ids.push((await store.createTask(task(`Task ${ids.length} "é"`), by(temp))).id),
    () => store.updateTask({ id, title: `Title ${random.below(100)}` }, by(temp)),
    () => store.claimTask({ id, assignee: 'ann', force: true, agents: NO_AGENTS }, by(temp)),
    () => store.closeTask({ id, reason: 'done' }, by(temp)),
    () => store.reopenTask({ id, reason: null }, by(temp)),
    () => store.addDependency({ from_id: id, to_id: other, type: 'blocks' }, by(temp)),
    () => store.deleteTask({ id }, by(temp)),
    () => store.restoreTask({ id }, by(temp)),
    () => store.updateTask({ id, parent_id: other }, by(temp)),
  ];
  try {
    await (random.oneIn(3) ? steps[0] : random.pick(steps))?.();
  } catch (error) {
    if (!isForgeError(error)) throw error;
  }
}
