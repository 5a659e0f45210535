import { findShownState, updatedOf } from '#domain/find-shown-state.ts';
import { listPastStates, type PastState } from '#domain/past-states.ts';
import { digestRecord } from '#domain/record-digests.ts';
import type { ShownState } from '#domain/take-in-edits.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { FoldRows } from './fold-rows.ts';
import { foldedAt, missingMany, NEVER_SHOWN } from './shown-facts.ts';

/**
 * What a file showed of a task when it was last looked at or written: a line of it that was not the store's own, else the
 * task as it stood at that event; of a task that the file lacked then, what it showed before that. Undefined where neither is known any more.
 */
export function readShownState(fold: LookedAt, known: TaskRecord): ShownState | undefined {
  const { rows, path } = fold;
  const mark = rows.readMark(path);
  if (mark === undefined) return undefined;
  if (mark.event_seq === null) {
    const [shown, ...more] = rows.listShown(path, known.id);
    if (more.length > 0 || shown?.seal === NEVER_SHOWN) return undefined;
    if (shown === undefined && rows.findFact(missingMany(path)) === 1) return undefined;
    if (shown !== undefined) return { digests: shown.digests, updated: updatedOf(shown.seal) };
  }
  const seq = mark.event_seq ?? rows.findFact(foldedAt(path));
  return seq === undefined ? undefined : readStateAt(fold, known, seq);
}

/** A fold of the file at `path`. */
export interface LookedAt {
  readonly rows: FoldRows;
  readonly path: string;
  /** Events of changes of very many tasks that have none of their own; read once. */
  many?: readonly number[];
}

/** The digests of all states of the task that the feed remembers. */
export function readPast(rows: FoldRows, known: TaskRecord): string[] {
  return listStates(rows, known).flatMap(({ record }) =>
    record === undefined ? [] : [digestRecord(record)],
  );
}

function readStateAt(fold: LookedAt, known: TaskRecord, seq: number): ShownState | undefined {
  const { rows } = fold;
  return findShownState(known, {
    seq,
    newest: rows.newestEventOf(known.id),
    oldest: () => rows.oldestEvent(),
    listMany: () => (fold.many ??= rows.listManyChanged()),
    listStates: () => listStates(rows, known),
  });
}

function listStates(rows: FoldRows, known: TaskRecord): PastState[] {
  return listPastStates(known, rows.listTaskEvents(known.id));
}
