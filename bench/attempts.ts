import { benchAttemptForecast } from './attempt-forecast.ts';
import { benchAttemptLive } from './attempt-live.ts';
import { benchAttemptStart } from './attempt-start.ts';
import { benchAttemptTasks } from './attempt-tasks.ts';
import type { Result } from './measure.ts';

const PARTS = {
  start: benchAttemptStart,
  tasks: benchAttemptTasks,
  live: benchAttemptLive,
  forecast: benchAttemptForecast,
};

/** Attempts: their start, tasks all the way to a merge, a server full of runs, and the forecast of conflicts. */
export async function benchAttempts(): Promise<Result[]> {
  const only = process.env['FORGE_BENCH_ATTEMPTS'];
  const results: Result[] = [];
  for (const [name, part] of Object.entries(PARTS))
    if (only === undefined || only.split(',').includes(name)) results.push(...(await part()));
  return results;
}
