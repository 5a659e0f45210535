import { identityOf, isSameTask } from '#domain/identity.ts';
import { joinGraphs, type TaskGraph } from '#domain/join-graphs.ts';
import { joinCopies } from '#domain/join-copies.ts';
import { keepLostValues } from '#domain/lost-values.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { compareText } from '#kernel/text.ts';
import type { FileLine } from '../replication.ts';
import {
  asKnown,
  judgeMeeting,
  noteEdits,
  readIncoming,
  readTask,
  saveJoined,
  type Fold,
  type MetLine,
} from './fold-records.ts';
import type { FoldedTask } from './fold-rows.ts';

/**
 * The rare fold in which two tasks turn out to have been born with one id: everything is held against everything,
 * because references on each side follow that side's own task.
 */
export function foldWholeFile(fold: Fold, lines: readonly FileLine[]): void {
  const { rows, report } = fold;
  const known = readAll(fold);
  const ours = new Map([...known].map(([id, { record }]) => [id, record]));
  const { graphs, judged } = readGraphs(fold, lines, ours);
  const joined = graphs.reduce<TaskGraph>(joinGraphs, ours);
  const apart = new Map<string, string>();
  for (const [id, record] of ours) if (!joined.has(id)) apart.set(id, identityOf(record).apart);
  for (const [from, to] of apart) {
    report.renamed.push({ from, to });
    rows.rename(from, to);
    fold.digests.delete(from);
  }
  const formerNames = new Map([...apart].map(([from, to]) => [to, from]));
  for (const [id, record] of joined) {
    if (ours.get(id) === record) continue;
    const former = known.get(formerNames.get(id) ?? '');
    // Read again, because its references moved with the names of others. The row went with an old name; its numbers go on.
    const before = rows.readKnown(id) ?? (former && { ...former, is_here: false, stored: undefined });
    fold.digests.set(id, saveJoined(fold, before, record));
  }
  for (const { known: before, incoming, taken } of judged) {
    const after = joined.get(before.id) ?? joined.get(identityOf(before).apart);
    if (after !== undefined) noteEdits(fold, { known: { ...before, id: after.id }, incoming, taken }, after);
  }
}

function readAll({ rows, digests }: Fold): Map<string, FoldedTask> {
  const known = new Map<string, FoldedTask>();
  // In one order, whatever the store gives them in: it is that of the events.
  for (const id of [...digests.keys()].sort(compareText)) {
    const task = rows.readKnown(id);
    if (task !== undefined) known.set(id, task);
  }
  return known;
}

/** Also under the name that it got here, or that it still has, when it was told apart from another. */
function findSame(ours: ReadonlyMap<string, TaskRecord>, record: TaskRecord): TaskRecord | undefined {
  const { apart, birth } = identityOf(record);
  for (const id of [record.id, apart, birth]) {
    const known = ours.get(id);
    if (known !== undefined && isSameTask(known, record)) return known;
  }
  return undefined;
}

/** What stands on both sides of a conflict belongs to both; a second task with the id of the first is a graph of its own. */
function readGraphs(
  fold: Fold,
  lines: Iterable<FileLine>,
  ours: ReadonlyMap<string, TaskRecord>,
): { graphs: Map<string, TaskRecord>[]; judged: MetLine[] } {
  const judged: MetLine[] = [];
  const sides = { ours: new Map<string, TaskRecord>(), theirs: new Map<string, TaskRecord>() };
  const strays: Map<string, TaskRecord>[] = [];
  let conflict = false;
  for (const line of lines) {
    const read = readTask(fold, line);
    if (read === undefined) continue;
    const incoming = asKnown(fold, read, ours.get(read.record.id));
    const base = findSame(ours, incoming.record);
    const taken = readIncoming(fold, incoming, base);
    const lost = base === undefined ? taken.lost : judgeMeeting(fold, { known: base, incoming, taken });
    if (base !== undefined) judged.push({ known: base, incoming, taken });
    const record = keepLostValues(taken.record, lost);
    for (const name of new Set(lost.map((one) => one.name)))
      fold.report.conflicts.push({ id: record.id, name });
    conflict ||= line.side !== undefined;
    for (const side of line.side === undefined ? (['ours', 'theirs'] as const) : [line.side]) {
      const there = sides[side].get(record.id);
      if (there === undefined) sides[side].set(record.id, record);
      else if (isSameTask(there, record)) sides[side].set(record.id, joinCopies(there, record));
      else strays.push(new Map([[record.id, record]]));
    }
  }
  const graphs = conflict ? [sides.ours, sides.theirs, ...strays] : [sides.ours, ...strays];
  return { graphs, judged };
}
