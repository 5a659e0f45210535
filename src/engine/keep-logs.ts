import { setImmediate as nextTurn } from 'node:timers/promises';
import { join } from 'node:path';
import type { Attempt, Run } from '#contract/attempt.ts';
import { decideKeptLog, type KeptLogFacts } from '#domain/decide-kept-log.ts';
import { isEnded } from '#domain/run-states.ts';
import { listRunLogFiles, replaceRunLog, type RunLogFile } from '#executors/run-log-files.ts';
import { byteSize } from '#kernel/byte-size.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import type { TaskHead } from '#store/task-looks.ts';
import { FolderLocks } from './folder-locks.ts';
import type { FilesPlace } from './keep-files.ts';

const DAY_MS = 86_400_000;
const GIGABYTE = 1_000_000_000;

/**
 * Logs of runs that have ended go when they are too old, or all together take too much: the oldest first, each looked at
 * again while no other process is at work in its attempt. One line stays in its place.
 */
export async function keepLogs(
  place: FilesPlace,
): Promise<{ readonly gone: number; readonly bytes: number }> {
  const { store, store_dir, clock, settings } = place;
  const { log_days, log_limit_gb } = settings.runs;
  const records = join(store_dir, 'attempts');
  const logs = await listRunLogFiles(records);
  const until = clock.now() - log_days * DAY_MS;
  let surplus = logs.reduce((sum, { bytes }) => sum + bytes, 0) - log_limit_gb * GIGABYTE;
  const folders = new FolderLocks({ records, watcher: readOwnIdentity(), store }, 0);
  const done = { gone: 0, bytes: 0 };
  const known = new Map<string, AttemptFacts>();
  for (const log of logs) {
    // Nothing is written to it after its run: those behind it are younger.
    if (surplus <= 0 && log.changed_at >= until) break;
    if (log.bytes < KEPT_LIMITS.run_log_least_bytes) continue;
    const bounds = { until, surplus, least_bytes: KEPT_LIMITS.run_log_least_bytes };
    const mayGo = async (of: AttemptFacts): Promise<boolean> =>
      decideKeptLog({ ...(await readFacts(place, log)), ...of }, bounds) === 'goes';
    await nextTurn();
    const standing = known.get(log.attempt_id) ?? (await readAttempt(place, log.attempt_id));
    known.set(log.attempt_id, standing);
    if (!(await mayGo(standing))) continue;
    const text = `The log of this run (${byteSize(log.bytes)}) is not kept any more: logs of ended runs are kept for ${log_days} days, and ${log_limit_gb} GB of them`;
    const isGone = await folders
      .hold({ id: log.attempt_id, name: log.attempt_id, task_id: '' }, 'upkeep', async () => {
        if (!(await mayGo(await readAttempt(place, log.attempt_id)))) return false;
        replaceRunLog(records, log, { at: toIso(clock.now()), text });
        return true;
      })
      .catch(isBusy);
    if (!isGone) continue;
    surplus -= log.bytes;
    done.gone += 1;
    done.bytes += log.bytes;
  }
  return done;
}

/** Another process is at work there: the next upkeep looks again. */
function isBusy(error: unknown): false {
  if (!isForgeError(error) || error.code !== 'state_invalid') throw error;
  return false;
}

type AttemptFacts = Pick<KeptLogFacts, 'attempt' | 'task'>;

async function readAttempt({ store }: FilesPlace, id: string): Promise<AttemptFacts> {
  const attempt = await store.getAttempt(id).catch(toNothing);
  const [task] = attempt === undefined ? [] : await store.listHeads([attempt.task_id]);
  return { attempt: toStanding(attempt), task: task === undefined ? 'unknown' : toTask(task) };
}

function toTask({ deleted, status }: TaskHead): KeptLogFacts['task'] {
  if (deleted) return 'deleted';
  return status === 'closed' ? 'closed' : 'open';
}

async function readFacts(
  { store }: FilesPlace,
  { run_id, attempt_id, bytes }: RunLogFile,
): Promise<Pick<KeptLogFacts, 'bytes' | 'ended_at'>> {
  const run = await store.getRun(run_id).catch(toNothing);
  return { bytes, ended_at: run?.attempt_id === attempt_id ? toEnd(run) : 'unknown' };
}

function toEnd({ state, ended_at }: Run): number | null {
  return isEnded(state) && ended_at !== null ? Date.parse(ended_at) : null;
}

function toStanding(attempt: Attempt | undefined): KeptLogFacts['attempt'] {
  if (attempt === undefined) return 'unknown';
  return attempt.state === 'active' ? 'active' : 'over';
}

function toNothing(error: unknown): undefined {
  if (!isForgeError(error) || error.code !== 'not_found') throw error;
  return undefined;
}
