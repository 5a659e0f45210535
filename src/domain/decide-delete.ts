import type { LocalNumbers } from './plan-write.ts';
import { encodeRecord } from './record-codec.ts';
import { decideSeen, type Seen } from './decide-seen.ts';
import { deleteRecord } from './task-changes.ts';
import type { Deciding, SeenTask } from './task-plan.ts';
import type { TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';
import { groupTies, type Tie, type Ties } from './task-ties.ts';

/** What a store keeps of a deleted task, to bring it back. */
export interface Undo extends LocalNumbers, Ties {
  /** The line of the task before it. */
  readonly before: string;
  /** The deletion came from another clone, or is read anew: what hung on the task is not told. */
  readonly elsewhere?: boolean;
}

export interface DeletePlan {
  readonly outcome: 'delete';
  readonly after: TaskRecord;
  readonly undo: Undo;
  /** Of what takes the place of the task, which no writer has written as it is. */
  readonly numbers: LocalNumbers;
  /** What is taken from each neighbour, before the task goes. */
  readonly ties: ReadonlyMap<string, Tie>;
}

export function decideDelete(
  task: SeenTask,
  { ties, ...seen }: Pick<Seen, 'version' | 'fence'> & { readonly ties: Ties },
  { now }: Deciding,
): DeletePlan | TaskRefusal {
  const other = decideSeen(task, seen);
  if (other !== undefined) return other;
  const { record, version, fence } = task;
  return {
    outcome: 'delete',
    after: deleteRecord(record, now),
    undo: { before: encodeRecord(record), version, fence, ...ties },
    numbers: { version: version + 1, fence: fence + 1 },
    ties: groupTies(ties),
  };
}

/** What hung on a task was taken from it by the same deletion, in lines of its own: where that came from elsewhere only its content is kept. */
export function undoElsewhere(content: TaskRecord, { version, fence }: LocalNumbers): Undo {
  return { before: encodeRecord(content), version, fence, children: [], dependents: [], elsewhere: true };
}
