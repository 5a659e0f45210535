import type { AttemptRecord } from '#contract/attempt-record.ts';

export type KeptMerge = AttemptRecord['merges'][number];

const LOST_END = 'How it ended was lost with the database';

/** A merge of the same target that says it was begun and is not over. */
export type Rival = Pick<KeptMerge, 'id' | 'seq'>;

type LostEnd = Pick<KeptMerge, 'state' | 'message' | 'finished_at'>;

/**
 * The row of a merge that is made again from its record; no `seq` puts it at the end of the queue, because its place is
 * somebody's who came while this record could not be read. One merge of a target is begun at a time, so of two that say
 * so the earlier one has ended, and its record missed that by a crash: `ended` says how the rival ends, where it is that.
 */
export function restoreMerge(
  merge: KeptMerge,
  { rival, is_taken }: { readonly rival: Rival | undefined; readonly is_taken: boolean },
  at: string,
): { readonly merge: Omit<KeptMerge, 'seq'> & { readonly seq: number | null }; readonly ended?: LostEnd } {
  const lost: LostEnd = { state: 'dropped', message: LOST_END, finished_at: at };
  const seq = is_taken ? null : merge.seq;
  if (merge.state !== 'started' || rival === undefined) return { merge: { ...merge, seq } };
  if (merge.seq > rival.seq) return { merge: { ...merge, seq }, ended: lost };
  return { merge: { ...merge, ...lost, seq } };
}
