import { isForgeError } from '#kernel/errors.ts';
import { toIso } from '#kernel/clock.ts';
import type { Move } from '#domain/plan-write.ts';
import { quickId } from '../fold/fold-lines.ts';
import { decodeTransition } from '#domain/history-line.ts';
import { findWritten } from './join-replica.ts';
import { decodeReplicaLine, splitReplicaLine, WriteEnds } from './replica-lines.ts';
import type { Replica } from './replica.ts';

/** What a replica says, to compare a database with. */
export interface ReplicaContent {
  /** The last line of each task. */
  readonly newest: ReadonlyMap<string, string>;
  /** The ids of the tasks that were moved, by `moveKey`. */
  readonly moves: ReadonlyMap<string, string>;
  /** Lines that are about no task: leases, facts. */
  readonly others: ReadonlySet<string>;
  /** Tasks of lines that the database does not hold yet: a crash kept them from it. */
  readonly ahead: ReadonlySet<string>;
  /** Where the last whole write ends. */
  readonly end: number;
}

/** `held` is how much of it the database holds, where that is known. */
export function readReplica(replica: Replica, held = Number.MAX_SAFE_INTEGER): ReplicaContent {
  const newest = new Map<string, string>();
  const moves = new Map<string, string>();
  const others = new Set<string>();
  const ahead = new Set<string>();
  let end = 0;
  // Lines of a write that a crash cut short count no more than it.
  let waiting: string[] = [];
  const writes = new WriteEnds();
  const count = (text: string, isAhead: boolean): void => {
    const id = quickId(text) ?? slowId(text);
    const moved = findMove(id, text);
    if (moved !== undefined) moves.set(moveKey(moved.id, moved.at, moved.move), moved.id);
    if (id !== undefined) newest.set(id, text);
    else if (moved === undefined) others.add(text);
    if (isAhead) ahead.add(id ?? moved?.id ?? '');
  };
  for (const line of replica.size() === 0 ? [] : replica.lines(0)) {
    waiting.push(line.text);
    if (!writes.endsWith(splitReplicaLine(line.text))) continue;
    for (const text of waiting) count(text, line.end > held);
    waiting = [];
    end = line.end;
  }
  return { newest, moves, others, ahead, end };
}

/** By what it says, as the table of moves has it. */
export function moveKey(
  id: string,
  at: string,
  { from_state, to_state, triggered_by }: Pick<Move, 'from_state' | 'to_state' | 'triggered_by'>,
): string {
  return JSON.stringify([id, at, from_state, to_state, triggered_by]);
}

function findMove(id: string | undefined, text: string): { id: string; at: string; move: Move } | undefined {
  if (id === undefined) return text.startsWith('{"task":') ? readMove(text) : undefined;
  const split = splitReplicaLine(text);
  if (split?.move === undefined) return undefined;
  const at = findWritten(split.task);
  return at === undefined ? undefined : { id, at: toIso(at), move: split.move };
}

function readMove(text: string): { id: string; at: string; move: Move } | undefined {
  try {
    const { task_id: id, at, ...move } = decodeTransition(text);
    return { id, at: toIso(at), move };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return undefined;
  }
}

/** Of a line that another program wrote; undefined for lines that are no tasks, or cannot be read. */
function slowId(line: string): string | undefined {
  if (!line.includes('"id":')) return undefined;
  try {
    return decodeReplicaLine(line).record.id;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return undefined;
  }
}
