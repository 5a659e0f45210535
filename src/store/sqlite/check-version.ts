import { ForgeError } from '#kernel/errors.ts';
import type { SeenState } from '../store.ts';
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
  if (asked.fence !== undefined && asked.fence !== stored.fence) {
    const { assignee } = stored.record.life;
    throw new ForgeError(
      'fence_conflict',
      `The claim ${asked.fence} of ${id} is over; ${assignee ?? 'nobody'} has it now`,
      { hint: `forge task show ${id}`, details: { id, fence: stored.fence, assignee } },
    );
  }
}

/** Throws version_conflict where the task has been moved since the caller saw it. */
export function checkSeenState({ record, version }: StoredRecord, { from_state }: SeenState): void {
  const { id, life } = record;
  if (from_state === undefined || from_state === life.state) return;
  throw new ForgeError(
    'version_conflict',
    `${id} is in ${life.state}, not in ${from_state}: somebody moved it`,
    {
      hint: `forge task show ${id}`,
      details: { id, version, state: life.state },
    },
  );
}
