import { parseIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Undo } from './decide-delete.ts';
import type { LocalNumbers } from './plan-write.ts';
import { encodeRecord } from './record-codec.ts';
import { editRecord, hasContent, restoreRecord } from './task-changes.ts';
import type { Deciding, Happening } from './task-plan.ts';
import { fieldValue, textValue, type TaskRecord } from './task-record.ts';
import { groupTies, type Tie, type Ties } from './task-ties.ts';

/** What git's history holds of a task from before it was deleted. */
export interface RememberedTask extends Ties {
  readonly line: string;
}

/**
 * The store's own memory before git's; what hung on the task is git's to say where the deletion came from elsewhere.
 * Undefined where neither knows what the task held.
 */
export function findUndo({
  own,
  remembered,
  deleted,
}: {
  readonly own: Undo | undefined;
  readonly remembered: RememberedTask | undefined;
  readonly deleted: TaskRecord;
}): Undo | undefined {
  if (remembered === undefined && own === undefined && hasContent(deleted)) {
    // The line holds it, and it is not known what hung on the task.
    const before = encodeRecord(deleted);
    return { before, version: 1, fence: 1, children: [], dependents: [], elsewhere: true };
  }
  if (remembered === undefined || (own !== undefined && own.elsewhere !== true)) return own;
  const { line, children, dependents } = remembered;
  return { before: line, version: 1, fence: 1, ...own, children, dependents, elsewhere: true };
}

/** What a restore can bring back without help: what the task held, and what hung on it. */
export function knowsOf(undo: Pick<Undo, 'elsewhere'> | undefined): {
  readonly content: boolean;
  readonly links: boolean;
} {
  return { content: undo !== undefined, links: undo !== undefined && undo.elsewhere !== true };
}

/** Where there is no undo. */
export function explainForgotten(id: string): ForgeError {
  return new ForgeError('not_found', `What ${id} held is neither in this store nor in git's history here`, {
    hint: 'git fetch --unshallow, or git fetch --all; then try again',
    details: { id },
  });
}

export interface RestorePlan {
  readonly after: TaskRecord;
  readonly numbers: LocalNumbers;
  readonly happening: Happening;
  /** What hung on the task, by the neighbours that it hung on. */
  readonly ties: ReadonlyMap<string, Tie>;
  /** What a neighbour changed before this moment was not taken from it by the deletion. */
  readonly since: number;
}

/** `before` is the record of `undo`; `is_here` says whether a task is there. */
export function planRestore(
  deleted: TaskRecord,
  {
    undo,
    before,
    is_here,
  }: {
    readonly undo: Undo;
    readonly before: TaskRecord;
    readonly is_here: (id: string) => boolean;
  },
  { now }: Pick<Deciding, 'now'>,
): RestorePlan {
  const restored = restoreRecord(deleted, before, now);
  const parent = fieldValue(restored, 'parent_id');
  const isOrphan = typeof parent === 'string' && !is_here(parent);
  return {
    after: isOrphan ? editRecord(restored, { fields: new Map([['parent_id', null]]) }, now) : restored,
    numbers: { version: undo.version + 1, fence: undo.fence + 1 },
    happening: { type: 'task.created', changed: [], more: { restored: true } },
    ties: groupTies(undo),
    // What git remembers may be older than the deletion: only what was taken from the task by it comes back.
    since: undo.elsewhere === true ? (parseIso(textValue(deleted, 'deleted_at')) ?? 0) : 0,
  };
}
