import { decodeRecord } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import type { LocalNumbers } from './record-rows.ts';

const LOCAL_KEY = '_local';

/** A move as its replica line has it: the states and statuses from and to, the reason, who, and 1 for a rejection. */
export interface Move {
  readonly from_state: string;
  readonly to_state: string;
  readonly from_status: string;
  readonly to_status: string;
  readonly reason: string | null;
  readonly triggered_by: string;
  readonly rejection: number;
}

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

const FOLLOWED = new RegExp(`"${LOCAL_KEY}":\\[\\d+,\\d+,(\\d+)[\\],]`);

/** How many of these lines, from the first on, are whole writes; the last write may have been cut by a crash. */
export function countWholeWrites(lines: readonly string[]): number {
  let whole = lines.length;
  while (whole > 0 && isFollowed(lines[whole - 1] ?? '')) whole -= 1;
  return whole;
}

function isFollowed(line: string): boolean {
  const local = line.slice(line.lastIndexOf(`"${LOCAL_KEY}":`));
  return Number(FOLLOWED.exec(local)?.[1] ?? 0) > 0;
}

export function decodeReplicaLine(line: string): ReplicaLine {
  const value = parseJson(line, 'A line of the local replica');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ForgeError('invalid_input', 'A line of the local replica is not an object');
  }
  const { [LOCAL_KEY]: local, ...record } = value as JsonObject;
  const [version, fence, , move] = Array.isArray(local) ? (local as Json[]) : [];
  const counted = typeof version === 'number' && typeof fence === 'number';
  return {
    record: decodeRecord(record),
    numbers: counted ? { version, fence } : undefined,
    move: decodeMove(move),
  };
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
