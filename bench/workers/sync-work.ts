import { dirname, join } from 'node:path';
import { systemActor } from '#domain/actor.ts';
import { systemClock } from '#kernel/clock.ts';
import { openSqliteStore } from '#store/open-sqlite-store.ts';
import { exportFiles } from '#sync/export-files.ts';
import { foldFiles } from '#sync/fold-files.ts';

// What `forge export` and the fold of a changed file do, timed without the start of the process.
const [mode = '', database = '', tasks = ''] = process.argv.slice(2);
await using store = await openSqliteStore({
  database,
  replica: join(dirname(database), 'tasks.jsonl'),
  clock: systemClock,
});
const files = { tasks, history: join(dirname(tasks), 'history.jsonl') };
const by = { actor: systemActor('bench'), now: systemClock.now(), clock: () => systemClock.now() };
const cpu = process.cpuUsage();
const started = performance.now();
if (mode === 'export') await exportFiles(store, files, { by, canonical: true, fold: false });
if (mode === 'import') await foldFiles(store, files, by);
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(
  `${JSON.stringify({ ms: performance.now() - started, cpu_ms: (user + system) / 1000 })}\n`,
);
