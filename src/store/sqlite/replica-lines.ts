import type { LocalNumbers, Move } from '#domain/plan-write.ts';
import { decodeRecord, LOCAL_KEY } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';

export interface ReplicaLine {
  readonly record: TaskRecord;
  /** A line without them was written by hand or by another program. */
  readonly numbers: LocalNumbers | undefined;
  readonly move: Move | undefined;
}

/**
 * A line of the local replica: the record's canonical line, and what only this store knows in one key more:
 * [version, fence, how many lines of the same write follow at least, the move that it logged]. A crash cannot leave half
 * of a write, because last lines that others must follow are not counted.
 */
export function encodeReplicaLine(
  line: string,
  { version, fence }: LocalNumbers,
  more: { readonly follow?: number; readonly move?: Move | undefined } = {},
): string {
  const { follow = 0, move } = more;
  const group = follow === 0 && move === undefined ? '' : `,${follow}`;
  const moved = move === undefined ? '' : `,${JSON.stringify(encodeMove(move))}`;
  return `${line.slice(0, -1)},"${LOCAL_KEY}":[${version},${fence}${group}${moved}]}`;
}

/** A line taken apart without reading the task, which may be unreadable. */
export interface SplitLine {
  readonly task: string;
  readonly numbers: LocalNumbers;
  /** How many lines of the same write must come at least: one that a crash cut short was never acknowledged. */
  readonly follow: number;
  readonly move: Move | undefined;
}

/** Undefined for a line that does not end as Forge ends them. */
export function splitReplicaLine(line: string): SplitLine | undefined {
  const at = line.lastIndexOf(`,"${LOCAL_KEY}":[`);
  if (at < 0 || !line.endsWith(']}')) return undefined;
  const { numbers, follow, move } = readLocal(line.slice(at + LOCAL_KEY.length + 4, -1));
  if (numbers === undefined) return undefined;
  return { task: `${line.slice(0, at)}}`, numbers, follow, move };
}

/** Tells where writes end, from line to line in the order of the file. */
export class WriteEnds {
  #left = 0;

  /**
   * Whether the write that the line belongs to is whole with it. Lines that are no records count as those that must
   * follow; each record says anew how many that are, so that one wrong number cannot make more lines doubtful than
   * those up to the next record.
   */
  endsWith(line: SplitLine | undefined): boolean {
    this.#left = line === undefined ? Math.max(0, this.#left - 1) : line.follow;
    return this.#left <= 0;
  }
}

interface Local {
  readonly numbers: LocalNumbers | undefined;
  readonly follow: number;
  readonly move: Move | undefined;
}

function readLocal(text: string): Local {
  // Nearly all are numbers and nothing else, and there may be a hundred thousand of them.
  const plain = /^\[(\d{1,15}),(\d{1,15})(?:,(\d{1,15}))?\]$/.exec(text);
  if (plain !== null) {
    const [, version, fence, follow] = plain.map(Number);
    return { numbers: { version: version ?? 0, fence: fence ?? 0 }, follow: follow || 0, move: undefined };
  }
  try {
    return toLocal(readJson(text) as Json); // it gives nothing but Json
  } catch {
    return toLocal(undefined);
  }
}

function toLocal(local: Json | undefined): Local {
  const [version, fence, follow, move] = Array.isArray(local) ? (local as Json[]) : [];
  const counted = typeof version === 'number' && typeof fence === 'number';
  return {
    numbers: counted ? { version, fence } : undefined,
    follow: typeof follow === 'number' ? follow : 0,
    move: decodeMove(move),
  };
}

export function decodeReplicaLine(line: string): ReplicaLine {
  const value = parseJson(line, 'A line of the local replica');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ForgeError('invalid_input', 'A line of the local replica is not an object');
  }
  const { [LOCAL_KEY]: local, ...record } = value as JsonObject;
  const { numbers, move } = toLocal(local);
  return { record: decodeRecord(record), numbers, move };
}

function encodeMove(move: Move): Json[] {
  const { from_state, to_state, from_status, to_status, triggered_by, reason, rejection } = move;
  return [from_state, to_state, from_status, to_status, triggered_by, reason, rejection];
}

function decodeMove(value: Json | undefined): Move | undefined {
  if (!Array.isArray(value)) return undefined;
  const [from_state, to_state, from_status, to_status, triggered_by, reason, rejection] = value as Json[];
  const texts = [from_state, to_state, from_status, to_status, triggered_by];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  return {
    from_state: from_state as string,
    to_state: to_state as string,
    from_status: from_status as string,
    to_status: to_status as string,
    triggered_by: triggered_by as string,
    reason: typeof reason === 'string' ? reason : null,
    rejection: rejection === 1 ? 1 : 0,
  };
}
