import { standingState } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { SeenState } from '../store.ts';
import type { Database } from './database.ts';
import type { StoredRecord } from './record-rows.ts';

/** Throws version_conflict or fence_conflict where the task is no longer the one that the caller saw. */
export function checkVersion(
  stored: StoredRecord,
  asked: { version?: number | undefined; fence?: number | undefined },
): void {
  const { id } = stored.record;
  if (asked.version !== undefined && asked.version !== stored.version) {
    throw new ForgeError(
      'version_conflict',
      `${id} has version ${stored.version}, not ${asked.version}: somebody changed it`,
      { hint: `forge task show ${id}`, details: { id, version: stored.version } },
    );
  }
  checkClaim(stored, asked.fence);
}

/** Throws fence_conflict where the claim that the caller names is over. */
export function checkClaim({ record, fence }: Pick<StoredRecord, 'record' | 'fence'>, asked?: number): void {
  if (asked === undefined || asked === fence) return;
  const { id } = record;
  const { assignee } = record.life;
  throw new ForgeError(
    'fence_conflict',
    `The claim ${asked} of ${id} is over; ${assignee ?? 'nobody'} has it now`,
    { hint: `forge task show ${id}`, details: { id, fence, assignee } },
  );
}

/** Throws version_conflict where the task has been moved since the caller saw it. */
export function checkSeenState(
  { record, version }: StoredRecord,
  { from_state }: SeenState,
  { workflow }: Database,
): void {
  const { id, life } = record;
  const state = workflow === undefined ? life.state : standingState(workflow, life);
  if (from_state === undefined || from_state === state) return;
  throw new ForgeError('version_conflict', `${id} is in ${state}, not in ${from_state}: it was moved`, {
    hint: `forge task show ${id}`,
    details: { id, version, state },
  });
}
