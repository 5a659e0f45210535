import { dirname } from 'node:path';
import type { Merge } from '#contract/attempt.ts';
import { type PushOutcome, pushTarget } from '#git/push-target.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import {
  describePush,
  listPushRecords,
  type PushRecord,
  removePushRecord,
  writePushRecord,
} from '#sync/push-records.ts';
import { tellFailure } from './tell-failure.ts';
import type { WorkPlace } from './work.ts';

/** Notes that a landing has to be pushed, where `merge.push` says so. A crash before the push forgets nothing. */
export function notePush(place: WorkPlace, { target, candidate, task_id }: Merge): void {
  if (place.settings().merge.push !== 'after' || candidate === null) return;
  const record = { branch: target, commit: candidate, task_id, tries: 0, next_at: 0, why: null, next: null };
  writePushRecord(toStoreDir(place), record);
}

/**
 * Pushes what has landed and waits for it, as far as its time has come. What the other side refuses stays noted, is told
 * to whoever watches, and is tried again: after the next landing, and by whoever stays, each time after twice as long.
 * Never rejects for what git says.
 */
export async function pushLanded(place: WorkPlace): Promise<void> {
  const records = listPushRecords(toStoreDir(place));
  if (records.length === 0) return;
  const isWanted = place.settings().merge.push === 'after';
  for (const record of records) {
    if (!isWanted) removePushRecord(toStoreDir(place), record);
    else if (record.next_at <= place.clock.now() && !place.signal.aborted) await pushOne(place, record);
  }
}

async function pushOne(place: WorkPlace, record: PushRecord): Promise<void> {
  const { branch, task_id } = record;
  const outcome = await tryPush(place, record);
  if (outcome.kind === 'pushed') {
    removeUnlessNewer(place, record);
    const { remote } = outcome.upstream;
    place.watch({ kind: 'note', task_id, text: `${branch} was pushed to ${remote}` });
    return;
  }
  if (place.signal.aborted) return;
  const tries = record.tries + 1;
  const wait = Math.min(LIMITS.push_first_ms * 2 ** (tries - 1), LIMITS.push_last_ms);
  const { why, next } = outcome;
  const failed = { ...record, tries, next_at: place.clock.now() + wait, why, next };
  if (isSameLanding(place, record)) writePushRecord(toStoreDir(place), failed);
  // Whoever watches heard it the first time; what is new is told again.
  if (record.why === why) return;
  const text = `${await describePush(place.repo, failed)}. Next: ${next}; it is tried again by itself`;
  place.watch({ kind: 'note', task_id, text });
}

async function tryPush(place: WorkPlace, record: PushRecord): Promise<PushOutcome> {
  const { repo, signal } = place;
  try {
    return await pushTarget(repo, record, { timeout_ms: LIMITS.git_push_ms, signal });
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { kind: 'failed', why: tellFailure(error), next: `git push origin ${record.branch}` };
  }
}

/** Another landing may have been noted while this one was on its way. */
function removeUnlessNewer(place: WorkPlace, record: PushRecord): void {
  if (isSameLanding(place, record)) removePushRecord(toStoreDir(place), record);
}

function isSameLanding(place: WorkPlace, { branch, commit }: PushRecord): boolean {
  const now = listPushRecords(toStoreDir(place)).find((one) => one.branch === branch);
  return now?.commit === commit;
}

function toStoreDir({ records }: WorkPlace): string {
  return dirname(records);
}
