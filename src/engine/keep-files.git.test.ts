import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { readLog } from '#executors/read-log.ts';
import { LET_GO } from '#git/let-go-ref.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { holdUpkeep, noteTold } from '#sync/rescue-memory.ts';
import { listRescued, type Rescued } from '#sync/rescued-work.ts';
import { isUpkeepDue, markUpkeep } from '#sync/upkeep-mark.ts';
import type { WorkSettings } from '#sync/work-settings.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { reopenTask } from './change-task.ts';
import { FolderLocks } from './folder-locks.ts';
import { describeKeptFiles, keepFiles, type FilesPlace } from './keep-files.ts';
import { measureKept } from './measure-kept.ts';
import { removeOverdue } from './retire-attempts.ts';

const DAY_MS = 86_400_000;
const LATER = 400 * DAY_MS;

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

interface Wishes {
  readonly runs?: Partial<WorkSettings['runs']>;
  readonly workspace?: Partial<WorkSettings['workspace']>;
  /** How much later it is. */
  readonly later?: number;
}

const storeDir = (): string => join(shop.repo.path, '.git', 'forge');

function placeWith({ runs, workspace, later = 0 }: Wishes = {}): FilesPlace {
  const settings = shop.place.settings();
  const { repo, clock } = shop.place;
  return {
    store: shop.engine.temp.store,
    clock: { now: () => clock.now() + later },
    repo,
    store_dir: storeDir(),
    settings: { runs: { ...settings.runs, ...runs }, workspace: { ...settings.workspace, ...workspace } },
  };
}

const reopen = ({ id }: Task): Promise<unknown> => reopenTask(shop.as(), { id, reason: null });

async function measure(what: string, wishes: Wishes = {}) {
  const { store } = shop.engine.temp;
  return (await measureKept({ ...placeWith(wishes), store })).find((one) => one.what === what);
}

describe('logs of runs', () => {
  const pathOf = ({ id, attempt_id }: Pick<Run, 'id' | 'attempt_id'>): string =>
    join(shop.place.records, attempt_id, `${id}.jsonl`);

  /** A task with a run that has ended, whose log takes so much of the disk and is so old. */
  async function addLog(title: string, { bytes = 100_000, age = 0 } = {}): Promise<{ task: Task; run: Run }> {
    shop.addAgent('w1', 'echo done > work');
    const task = await shop.create(title);
    await shop.work(task, 'w1');
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    if (run === undefined) throw new Error('no run');
    writeFileSync(pathOf(run), readFileSync(pathOf(run)));
    const rest = bytes - statSync(pathOf(run)).size;
    writeFileSync(`${pathOf(run)}.4096`, `${'x'.repeat(rest - 1)}\n`);
    for (const path of [pathOf(run), `${pathOf(run)}.4096`])
      utimesSync(path, (Date.now() - age) / 1_000, (Date.now() - age) / 1_000);
    return { task, run };
  }
  const isThere = (run: Run): boolean => existsSync(`${pathOf(run)}.4096`);

  it('go when they are too old and their task is over, and a line in their place says so', async () => {
    const over = await addLog('Over');
    const open = await addLog('Still in review');
    await shop.move(over.task, 'cancelled');
    expect(await keepFiles(placeWith({ later: 80 * DAY_MS }))).toMatchObject({ run_logs: { gone: 0 } });
    // Taken up again: its attempt is over, and the task is not.
    await reopen(over.task);
    expect(await keepFiles(placeWith({ later: LATER }))).toMatchObject({ run_logs: { gone: 0 } });
    await shop.move(over.task, 'cancelled');
    const kept = await keepFiles(placeWith({ later: 91 * DAY_MS }));
    expect(kept?.run_logs).toEqual({ gone: 1, bytes: 100_000 });
    expect(kept && describeKeptFiles(kept)).toEqual(['1 log of ended runs went (100.0 kB)']);
    expect([isThere(over.run), isThere(open.run)]).toEqual([false, true]);
    const { lines } = readLog({ path: pathOf(over.run), offset: 0, limit: 10 });
    expect(lines).toMatchObject([
      {
        seq: 1,
        kind: 'note',
        text: 'The log of this run (100.0 kB) is not kept any more: logs of ended runs are kept for 90 days, and 2 GB of them',
      },
    ]);
    // Done once.
    expect(await keepFiles(placeWith({ later: LATER }))).toMatchObject({ run_logs: { gone: 0 } });
    expect(statSync(pathOf(over.run)).size).toBeLessThan(KEPT_LIMITS.run_log_least_bytes);
  });

  it('go when all take too much, the oldest first and no more than that', async () => {
    const [old, open, mid, young] = [
      await addLog('Old', { age: 30_000 }),
      await addLog('Open', { age: 40_000 }),
      await addLog('Middle', { age: 20_000 }),
      await addLog('Young', { age: 10_000 }),
    ];
    for (const { task } of [old, mid, young]) await shop.move(task, 'cancelled');
    expect(await measure('run_logs', { runs: { log_limit_gb: 0.00025 } })).toMatchObject({
      bytes: 400_000,
      allowed: { bytes: 250_000, days: 90 },
      exceeded:
        '150.0 kB more than allowed; those of work that is not over stay, and those that no row explains',
      command: 'forge gc',
    });
    const kept = await keepFiles(placeWith({ runs: { log_limit_gb: 0.00025 } }));
    expect(kept?.run_logs).toEqual({ gone: 2, bytes: 200_000 });
    expect([old, open, mid, young].map(({ run }) => isThere(run))).toEqual([false, true, false, true]);
    expect(await measure('run_logs', { runs: { log_limit_gb: 0.00025 } })).toMatchObject({ exceeded: null });
  });

  it('stay while somebody works there, and where no row explains them', async () => {
    const log = await addLog('Worked in');
    await shop.move(log.task, 'cancelled');
    const lost = { id: crypto.randomUUID(), attempt_id: log.run.attempt_id };
    writeFileSync(pathOf(lost), 'x'.repeat(50_000));
    const all = { runs: { log_limit_gb: 0 }, later: LATER };
    const locks = new FolderLocks(shop.place, 0);
    const folder = { id: log.run.attempt_id, name: 'worked-in', task_id: log.task.id };
    await locks.hold(folder, 'a look', async () => {
      expect(await keepFiles(placeWith(all))).toMatchObject({ run_logs: { gone: 0 } });
    });
    expect(isThere(log.run)).toBe(true);
    expect(await keepFiles(placeWith(all))).toMatchObject({ run_logs: { gone: 1 } });
    expect(statSync(pathOf(lost)).size).toBe(50_000);
  });
});

describe('rescue refs', () => {
  const list = (): Promise<Rescued[]> => listRescued({ repository: shop.place.repo });
  const tell = async (...which: readonly Rescued[]): Promise<void> => {
    const paths = { store_dir: storeDir(), common_dir: shop.place.repo.common_dir };
    await noteTold(paths, { all: await list(), told: which, now: shop.place.clock.now() });
  };

  /** A task that is over, with an attempt of which something was rescued so many times. */
  async function addRescues(title: string, count: number): Promise<{ task: Task; refs: readonly Rescued[] }> {
    shop.addAgent('w1', 'echo done > work');
    const task = await shop.create(title);
    await shop.work(task, 'w1');
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    if (attempt === undefined) throw new Error('no attempt');
    for (let number = 1; number <= count; number += 1)
      await addRescue(attempt.id, `Rescue ${number} of ${title}`, number);
    return { task, refs: (await list()).filter(({ attempt_id }) => attempt_id === attempt.id) };
  }
  async function addRescue(attempt_id: string, message: string, number: number): Promise<void> {
    const tree = shop.repo.git('rev-parse', 'HEAD^{tree}');
    const commit = shop.repo.git('commit-tree', '-m', message, tree);
    shop.repo.git('update-ref', `refs/forge/rescue/${attempt_id}/${number}`, commit);
  }
  /** Its folder is gone too. */
  const end = async (task: Task): Promise<void> => {
    await shop.move(task, 'cancelled');
    await removeFolders();
  };
  const removeFolders = async (): Promise<void> => {
    const { cleanup_hours } = shop.place.settings().workspace;
    const clock = { now: () => shop.place.clock.now() + (cleanup_hours + 1) * 3_600_000 };
    await removeOverdue({ ...shop.place, clock });
  };
  const names = async (): Promise<string[]> => (await list()).map(({ subject }) => subject).sort();

  it('go long after a person was shown them, but for the newest, and git still finds them', async () => {
    const { task, refs } = await addRescues('Task', 3);
    await end(task);
    const late = { later: 91 * DAY_MS };
    expect(await keepFiles(placeWith(late))).toMatchObject({ rescues: [] });
    expect((await names()).length).toBe(3);

    const [first, , third] = refs;
    if (first === undefined || third === undefined) throw new Error('no refs');
    await tell(first, third);
    expect(await keepFiles(placeWith({ later: 89 * DAY_MS }))).toMatchObject({ rescues: [] });
    const kept = await keepFiles(placeWith(late));
    expect(kept?.rescues).toEqual([{ ref: first.ref, commit: first.commit }]);
    expect(kept && describeKeptFiles(kept)).toEqual([
      '1 rescue ref went that somebody was shown long ago; git reflog refs/forge/let-go has the commits',
    ]);
    expect(await names()).toEqual(['Rescue 2 of Task', 'Rescue 3 of Task']);

    expect(shop.repo.git('reflog', LET_GO)).toContain(`forge: let go of ${first.ref}`);
    shop.repo.git('gc', '--quiet', '--prune=now');
    expect(shop.repo.git('cat-file', '-t', first.commit)).toBe('commit');
  });

  it('go sooner where there are too many, and never one that no person was shown', async () => {
    const { task, refs } = await addRescues('Task', 4);
    await end(task);
    const few = { workspace: { rescue_limit: 1 } };
    expect(await keepFiles(placeWith(few))).toMatchObject({ rescues: [] });
    expect(await measure('rescues', few)).toMatchObject({
      number: 4,
      allowed: { number: 1 },
      exceeded: '3 more than allowed; no person was shown 4 of them, and they stay until then',
      command: 'forge workspace rescue',
    });
    await tell(...refs.slice(0, 2));
    expect(await keepFiles(placeWith({ ...few, later: 6.9 * DAY_MS }))).toMatchObject({ rescues: [] });
    const nextWeek = placeWith({ ...few, later: 7.1 * DAY_MS });
    expect((await keepFiles(nextWeek))?.rescues).toHaveLength(2);
    expect(await names()).toEqual(['Rescue 3 of Task', 'Rescue 4 of Task']);
    await tell(...refs.slice(2));
    expect((await keepFiles(nextWeek))?.rescues).toHaveLength(1);
    expect(await measure('rescues', few)).toMatchObject({ number: 1, exceeded: null, command: null });
  });

  it('stay while the task is open, or the folder is there', async () => {
    const { task, refs } = await addRescues('Task', 2);
    await tell(...refs);
    const due = { workspace: { rescue_limit: 1 }, later: LATER };
    expect(await keepFiles(placeWith(due))).toMatchObject({ rescues: [] });
    await shop.move(task, 'cancelled');
    expect(await keepFiles(placeWith(due))).toMatchObject({ rescues: [] });
    await removeFolders();
    await reopen(task);
    expect(await keepFiles(placeWith(due))).toMatchObject({ rescues: [] });
    await shop.move(task, 'cancelled');
    expect((await keepFiles(placeWith(due)))?.rescues).toHaveLength(1);
  });

  it('stay where another commit has come to their place, and where what Forge knew of them is lost', async () => {
    const { task, refs } = await addRescues('Task', 2);
    await end(task);
    await tell(...refs);
    const due = { workspace: { rescue_limit: 1 }, later: LATER };
    const [first] = refs;
    shop.repo.git('update-ref', first?.ref ?? '', shop.repo.git('rev-parse', 'HEAD'));
    // It is another one now, and the newest.
    expect(await keepFiles(placeWith(due))).toMatchObject({ rescues: [{ ref: refs[1]?.ref }] });
    await addRescue(first?.attempt_id ?? '', 'Rescue 3 of Task', 3);
    for (const text of ['{"', '[]', 'null', '{"refs/forge/rescue/x/1": 7}']) {
      writeFileSync(join(storeDir(), 'rescues.json'), text);
      expect(await keepFiles(placeWith(due))).toMatchObject({ rescues: [] });
    }
    expect((await list()).length).toBe(2);
  });
});

describe('upkeep', () => {
  it('is due once an hour, where agents have worked, and done by one process at a time', async () => {
    const now = Date.UTC(2026, 1, 10, 9);
    expect(isUpkeepDue(storeDir(), now)).toBe(false);
    await shop.repo.write('.git/forge/attempts/x/note', '');
    expect(isUpkeepDue(storeDir(), now)).toBe(true);
    markUpkeep(storeDir(), now);
    expect(isUpkeepDue(storeDir(), now)).toBe(false);
    expect(isUpkeepDue(storeDir(), now + KEPT_LIMITS.upkeep_ms - 1)).toBe(false);
    expect(isUpkeepDue(storeDir(), now + KEPT_LIMITS.upkeep_ms)).toBe(true);
    expect(isUpkeepDue(storeDir(), now - 1_000)).toBe(true);
    const place = placeWith();
    const held = await holdUpkeep({ store_dir: storeDir() }, () => keepFiles(place, { patience_ms: 0 }));
    expect(held).toBeUndefined();
    expect(await keepFiles(place)).toEqual({ run_logs: { gone: 0, bytes: 0 }, rescues: [] });
    expect(isUpkeepDue(storeDir(), shop.place.clock.now())).toBe(false);
  });
});
