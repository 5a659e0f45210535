import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemActor } from '#domain/actor.ts';
import { systemClock } from '#kernel/clock.ts';
import { openStore } from '#store/open-store.ts';
import { locationOf } from '#store/store-location.ts';
import { NOTHING_CARRIED } from '#sync/carry-lines.ts';
import { exportFiles } from '#sync/export-files.ts';
import { foldFiles } from '#sync/fold-files.ts';
import { writeTaskFile } from '../task-lines.ts';
import { reportCost, startCost } from './report-cost.ts';

// What `forge export`, the fold of a changed file and a database that is gone take, timed without the start of the process.
const [mode = '', database = '', tasks = ''] = process.argv.slice(2);
const by = { actor: systemActor('bench'), now: systemClock.now(), clock: () => systemClock.now() };

/** Asked of git by commands, and only where a file changed. */
const findHeld = async (): Promise<undefined> => undefined;
const source = { repo: undefined, findHeld, readCommitted: async () => [] };

await warmUp();
const cost = startCost();
if (mode !== 'nothing') await work(mode, database, tasks);
reportCost(cost);

async function work(what: string, db: string, file: string): Promise<void> {
  await using store = await openStore(locationOf(db), { clock: systemClock });
  // Opened on a database that is gone, the store has read its whole replica.
  if (what === 'rebuild') return;
  const files = { tasks: file, history: join(dirname(file), 'history.jsonl'), copies: dirname(db) };
  if (what === 'export')
    await exportFiles(store, files, { by, source, canonical: true, joined: NOTHING_CARRIED });
  else await foldFiles(store, files, { ...by, findHeld });
}

/** Loads the code, which the program has in one file: from its sources that would be most of the time. */
async function warmUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'forge-bench-'));
  try {
    writeTaskFile(join(folder, 'in.jsonl'), 10);
    await work('import', join(folder, 'forge.db'), join(folder, 'in.jsonl'));
    await work('export', join(folder, 'forge.db'), join(folder, 'out.jsonl'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
