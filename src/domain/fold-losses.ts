import { isDeleted, lastStamp, type TaskRecord } from './task-record.ts';

/** What a person is told of a task that was joined with a copy of it. */
export interface FoldLosses {
  /** Of two claims on one task the first stands. */
  readonly claim: { readonly was: string; readonly now: string } | undefined;
  /** It was edited here, and deleted elsewhere before that. */
  readonly is_edited_deleted: boolean;
}

export function findFoldLosses(before: TaskRecord, after: TaskRecord): FoldLosses {
  const was = before.life;
  const now = after.life;
  const claims = was.status === 'in_progress' && now.status === 'in_progress' && was.n === now.n;
  const lost =
    claims && was.assignee !== null && now.assignee !== null && was.assignee !== now.assignee
      ? { was: was.assignee, now: now.assignee }
      : undefined;
  const deletedAt = after.fields.get('deleted_at')?.stamp ?? 0;
  return {
    claim: lost,
    is_edited_deleted: isDeleted(after) && !isDeleted(before) && lastStamp(before) > deletedAt,
  };
}
