import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import { AttemptRecord } from '#contract/attempt-record.ts';
import type { Task } from '#contract/task.ts';
import { fold } from '../../tests/support/fold-lines.ts';
import { raceWorkers } from '../../tests/support/store-workers.ts';
import { removeDatabase, tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';
import {
  newAttempt,
  newMerge,
  startRun,
  startWork,
  toMark,
  WATCHER,
} from './behaviour/open-work-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

describe('the record of an attempt', () => {
  it('is there after every change, and the highest revision stands', async () => {
    await using temp = await openTemp();
    const { attempt } = await startWork(temp);
    expect(readRecord(temp, attempt)).toMatchObject({ schema: 1, revision: 1, attempt });
    const run = await startRun(temp, attempt, { state: 'running' });
    await temp.store.noteRun({ id: run.id, process: toMark(8) });
    await temp.store.noteRun({ id: run.id, beat_at: 5 });
    const record = readRecord(temp, attempt);
    expect(record).toMatchObject({ revision: 3, runs: [{ id: run.id, process: toMark(8), beat_at: null }] });
    expect(AttemptRecord.parse(record)).toEqual(record);
    expect(readdirSync(join(temp.folder, 'attempts', attempt.id))).toEqual(['record.json']);
  });

  it('is that of the last change when many come at once, on several connections', async () => {
    await using temp = await openTemp('await');
    await using other = await temp.connectAgain();
    const { attempt } = await startWork(temp);
    await Promise.all(
      Array.from({ length: 20 }, async (_, at) =>
        (at % 2 === 0 ? temp.store : other).addMessage({ attempt_id: attempt.id, body: `${at}` }, by(temp)),
      ),
    );
    const record = readRecord(temp, attempt);
    expect(record.revision).toBe(21);
    expect(record.messages).toHaveLength(20);
  });

  it('is that of the last change when processes write it', { timeout: 60_000 }, async () => {
    await using temp = await openTemp();
    const { attempt } = await startWork(temp);
    const said = await raceWorkers(temp.folder, 4, ['messages', attempt.id, '5']);
    expect(said.flat().filter((one) => 'error' in one)).toEqual([]);
    const record = readRecord(temp, attempt);
    expect(record.messages).toHaveLength(20);
    expect(record.revision).toBe(21);
    expect(readdirSync(join(temp.folder, 'attempts', attempt.id))).toEqual(['record.json']);
  });

  it('that cannot be written takes nothing back; somebody is told', async () => {
    await using temp = await openTemp();
    writeFileSync(join(temp.folder, 'attempts'), 'in the way');
    const told: string[] = [];
    const { database, replica, clock } = temp;
    await using store = await openSqliteStore({
      database,
      replica,
      clock,
      notice: (line) => told.push(line),
    });
    const { id } = await create(temp, 'Work');
    const attempt = await store.startAttempt(newAttempt(id), by(temp));
    expect(await temp.store.getAttempt(attempt.id)).toEqual(attempt);
    expect(told).toEqual([
      expect.stringContaining(`The record of attempt ${attempt.id} could not be written`),
    ]);
  });
});

describe('a database that was lost', () => {
  it.each(['deleted', 'damaged'])('%s: everything of the attempts comes back', async (how) => {
    await using temp = await openTemp();
    const { attempt } = await fill(temp);
    const before = await everyRow(temp);
    await temp.reopen(async () => {
      if (how === 'deleted') await removeDatabase(temp.database);
      else writeFileSync(temp.database, 'This was a database once.\n'.repeat(100));
    });
    expect(await everyRow(temp)).toEqual(before);
    // And it goes on from there.
    const second = await temp.store.startAttempt(newAttempt(attempt.task_id), by(temp));
    expect(second.number).toBe(2);
    expect(readRecord(temp, attempt).revision).toBe(await revisionOf(temp, attempt));
  });

  it('brings back what waits to be taken in the order of the queue', async () => {
    await using temp = await openTemp();
    const attempts = [];
    for (let at = 0; at < 4; at += 1) attempts.push((await startWork(temp)).attempt);
    const queued = [];
    for (const attempt of attempts.toReversed())
      queued.push(await temp.store.queueMerge(newMerge(attempt), by(temp)));
    await temp.store.takeMerge({ id: queued[0]?.id ?? '', watcher: WATCHER }, by(temp));
    const before = await temp.store.listOpenMerges();
    await temp.rebuild();
    expect(await temp.store.listOpenMerges()).toEqual(before);
    expect(before.map(({ merge }) => merge.id)).toEqual(queued.map(({ id }) => id));
  });

  it('of two merges that both say they are started, the earlier one has ended', async () => {
    await using temp = await openTemp();
    const [first, second] = [(await startWork(temp)).attempt, (await startWork(temp)).attempt];
    const one = await temp.store.queueMerge(newMerge(first), by(temp));
    const two = await temp.store.queueMerge(newMerge(second), by(temp));
    await temp.store.takeMerge({ id: one.id, watcher: WATCHER }, by(temp));
    const stale = readFileSync(recordPath(temp, first), 'utf8');
    await temp.store.finishMerge({ id: one.id, state: 'landed' }, by(temp));
    await temp.store.takeMerge({ id: two.id, watcher: WATCHER }, by(temp));
    // As if whoever finished the first had died before it wrote the record.
    writeFileSync(recordPath(temp, first), stale);
    await temp.rebuild();
    expect(await temp.store.listOpenMerges()).toMatchObject([{ merge: { id: two.id, state: 'started' } }]);
    expect(await temp.store.listMerges({ task_id: first.task_id })).toMatchObject([{ state: 'dropped' }]);
  });

  it('records that cannot be used are reported and stay, the others come back', async () => {
    await using temp = await openTemp();
    const { task, attempt } = await startWork(temp);
    const record = readRecord(temp, attempt);
    const later = { id: 'clashes', name: 'other', created_at: '2026-03-01T00:00:00.000Z' };
    const bad = {
      torn: JSON.stringify(record).slice(0, 40),
      newer: JSON.stringify({ ...record, schema: 2 }),
      copied: JSON.stringify(record),
      clashes: JSON.stringify({ ...record, attempt: { ...attempt, ...later } }),
    };
    for (const [name, text] of Object.entries(bad)) writeRecordFile(temp, name, text);
    mkdirSync(join(temp.folder, 'attempts', 'only-logs'));
    const told: string[] = [];
    const { database, replica, clock } = temp;
    await temp.reopen(async () => {
      await removeDatabase(database);
      await using _store = await openSqliteStore({
        database,
        replica,
        clock,
        notice: (line) => told.push(line),
      });
    });
    expect(await temp.store.listAttempts({ task_id: task.id })).toEqual([attempt]);
    const { events } = await temp.store.readEvents({
      after: 0,
      limit: 100,
      types: ['attempt.record_refused'],
    });
    const refused = events.map(({ data }) => JSON.parse(data) as { path: string; problem: string });
    expect(refused.map(({ path, problem }) => [path.split('/').at(-2), problem])).toEqual([
      ['copied', `it is the record of attempt ${attempt.id}`],
      ['newer', expect.stringContaining('schema')],
      ['torn', expect.stringContaining('it is not JSON')],
      ['clashes', expect.stringContaining('attempts.task_id, attempts.number')],
    ]);
    expect(told.filter((line) => line.includes('stays where it is'))).toHaveLength(4);
    for (const [name, text] of Object.entries(bad))
      expect(readFileSync(join(temp.folder, 'attempts', name, 'record.json'), 'utf8')).toBe(text);
    // They are looked at once, not by every command.
    told.length = 0;
    await using _again = await openSqliteStore({
      database,
      replica,
      clock,
      notice: (line) => told.push(line),
    });
    expect(told).toEqual([]);
  });

  it(
    'what came back is brought back once, also when many open it at the same moment',
    { timeout: 60_000 },
    async () => {
      await using temp = await openTemp();
      await fill(temp);
      const before = await everyRow(temp);
      await temp.reopen(async () => {
        await removeDatabase(temp.database);
        const said = await raceWorkers(temp.folder, 6, ['attempts']);
        expect(said).toEqual(Array.from({ length: 6 }, () => [{ attempts: 1, open_runs: 1 }]));
      });
      expect(await everyRow(temp)).toEqual(before);
    },
  );
});

it('goes with a task that was told apart from another and has a new name', async () => {
  await using temp = await openTemp();
  const { task, attempt } = await fill(temp);
  const twin = { id: task.id, title: 'Twin', status: 'open', created_by: 'somebody' };
  const { renamed } = await fold(temp, [{ ...twin, created_at: '2026-01-01T00:00:00.000Z' }]);
  const [{ from, to } = { from: '', to: '' }] = renamed;
  expect(from).toBe(task.id);
  const [found] = await temp.store.listAttempts({ task_id: to });
  expect(found?.id).toBe(attempt.id);
  const before = await everyRow(temp);
  expect(JSON.stringify(before)).not.toContain(`"task_id":"${task.id}"`);
  await temp.rebuild();
  expect(await everyRow(temp)).toEqual(before);
});

it('an older copy of the database is put back: what it lacks of attempts is there', async () => {
  await using temp = await openTemp();
  const { task } = await startWork(temp);
  await temp.reopen(() => copyFileSync(temp.database, `${temp.database}.copy`));
  await temp.store.startAttempt(newAttempt(task.id), by(temp));
  await fill(temp);
  const before = await everyRow(temp);
  await temp.reopen(() => renameSync(`${temp.database}.copy`, temp.database));
  expect(await everyRow(temp)).toEqual(before);
});

describe('restoreAttempts', () => {
  it('takes a record only where it is newer than the rows, and then whole', async () => {
    await using temp = await openTemp();
    const { attempt } = await fill(temp);
    const newest = readFileSync(recordPath(temp, attempt), 'utf8');
    const before = await everyRow(temp);
    expect(await temp.store.restoreAttempts(by(temp))).toEqual({ restored: 0, refused: [] });
    // As after a power cut that took the last commits from the database.
    using db = temp.connect();
    db.exec(
      "UPDATE attempts SET revision = revision - 1; UPDATE runs SET state = 'draft'; DELETE FROM run_messages",
    );
    expect(await temp.store.restoreAttempts(by(temp))).toEqual({ restored: 1, refused: [] });
    expect(await everyRow(temp)).toEqual(before);
    expect(readFileSync(recordPath(temp, attempt), 'utf8')).toBe(newest);
  });

  it('keeps how one of several is picked, and takes the record of a Forge that did not know of it', async () => {
    await using temp = await openTemp();
    const { attempt } = await startWork(temp, { pick: 'reviewer' });
    await temp.rebuild();
    expect(await temp.store.getAttempt(attempt.id)).toEqual(attempt);
    const { pick: _, strayed: __, ...older } = attempt;
    const record = { ...readRecord(temp, attempt), attempt: older };
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      writeFileSync(recordPath(temp, attempt), JSON.stringify(record));
    });
    expect(await temp.store.getAttempt(attempt.id)).toEqual({ ...attempt, pick: null });
  });
});

describe('a process race', () => {
  it('eight processes take the same merge: exactly one is started', { timeout: 60_000 }, async () => {
    await using temp = await openTemp();
    const { attempt } = await startWork(temp);
    const { id } = await temp.store.queueMerge(newMerge(attempt), by(temp));
    const said = (await raceWorkers(temp.folder, 8, ['take merge', id])).flat();
    expect(said).toHaveLength(8);
    expect(said.filter((one) => one['taken'] === true)).toHaveLength(1);
    expect(said.filter((one) => one['taken'] === false)).toHaveLength(7);
    const { events } = await temp.store.readEvents({ after: 0, limit: 100, types: ['merge.started'] });
    expect(events).toHaveLength(1);
  });
});

type Temp = TempStore & { connectAgain(): ReturnType<typeof openSqliteStore> };

async function openTemp(lock: 'block' | 'await' = 'block'): Promise<Temp> {
  const temp = await tempStore({ lock });
  const { database, replica, clock } = temp;
  const connectAgain = () => openSqliteStore({ database, replica, clock, lock, lock_timeout_ms: 10_000 });
  return Object.assign(temp, { connectAgain });
}

/** An attempt with something of everything. */
async function fill(temp: Temp): Promise<{ task: Task; attempt: Attempt }> {
  const { store } = temp;
  const { task, attempt } = await startWork(temp, { port: 4000 });
  const { id: attempt_id, task_id } = attempt;
  const done = await startRun(temp, attempt, { state: 'running', session_id: 's-1' });
  await store.moveRun({ id: done.id, to: 'failed', outcome: 'timeout', message: 'too slow' }, by(temp));
  const open = await startRun(temp, attempt, { state: 'running' });
  await store.noteRun({ id: open.id, process: toMark(12) });
  const approval = { id: crypto.randomUUID(), run_id: open.id, tool: 'bash', input: { argv: ['ls'] } };
  await store.askApproval(approval, by(temp));
  await store.addMessage({ attempt_id, body: 'Mind the tests' }, by(temp));
  const review = { id: crypto.randomUUID(), task_id, attempt_id, head_commit: 'b'.repeat(40) };
  await store.startReview({ ...review, watcher: WATCHER }, by(temp));
  const result = {
    command: 'npm test',
    exit_code: 1,
    duration_ms: 3,
    output: 'no',
    outcome: 'failed',
  } as const;
  await store.addStepResult({ id: review.id, result }, by(temp));
  await store.finishReview({ id: review.id, status: 'failed' }, by(temp));
  await store.queueMerge(newMerge(attempt), by(temp));
  await store.changeAttempt({ id: attempt_id, head_commit: 'c'.repeat(40) }, by(temp));
  return { task, attempt };
}

async function everyRow({ store }: TempStore): Promise<unknown> {
  const attempts = await store.listAttempts({});
  return {
    attempts,
    runs: await store.listRuns({}),
    open_runs: await store.listOpenRuns(),
    approvals: await store.listApprovals({}),
    merges: await store.listOpenMerges(),
    rest: await Promise.all(
      attempts.map(async ({ id, task_id }) => ({
        reviews: await store.listReviews({ task_id }),
        merges: await store.listMerges({ task_id }),
        messages: (await store.listMessages({ attempt_id: id })).map(({ body, author }) => [body, author]),
      })),
    ),
  };
}

async function revisionOf(temp: TempStore, { id }: Attempt): Promise<number> {
  using db = temp.connect();
  return Number(db.prepare('SELECT revision FROM attempts WHERE id = ?').get(id)?.['revision']);
}

function recordPath(temp: TempStore, { id }: Attempt): string {
  return join(temp.folder, 'attempts', id, 'record.json');
}

function readRecord(temp: TempStore, attempt: Attempt): AttemptRecord {
  return JSON.parse(readFileSync(recordPath(temp, attempt), 'utf8')) as AttemptRecord;
}

function writeRecordFile(temp: TempStore, name: string, text: string): void {
  const folder = join(temp.folder, 'attempts', name);
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'record.json'), text);
}
