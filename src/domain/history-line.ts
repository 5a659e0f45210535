import { parseIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type Json, type JsonObject } from '#kernel/json.ts';
import type { Move } from './plan-write.ts';
import { statusOfState } from './states.ts';

export interface TravellingMove extends Move {
  readonly task_id: string;
  readonly at: number;
}

/** A move as it stands in a log. */
type LoggedMove = { readonly [Name in keyof Move | 'task_id' | 'created_at']?: unknown };

/** One line of `.forge/history.jsonl`: what can be concluded from the states is left out. */
export function encodeTransition(row: LoggedMove): string {
  const from = row.from_state as string;
  const to = row.to_state as string;
  return JSON.stringify({
    task: row.task_id,
    at: row.created_at,
    from,
    to,
    by: row.triggered_by,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.rejection === 1 && { rejection: true }),
    ...(row.from_status !== statusOfState(from) && { from_status: row.from_status }),
    ...(row.to_status !== statusOfState(to) && { to_status: row.to_status }),
  });
}

/** Throws invalid_input for what is no such line. */
export function decodeTransition(text: string): TravellingMove {
  const value = parseJson(text, 'The line');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAMove('not an object');
  const line = value as JsonObject;
  const word = (key: string): string => {
    const found = line[key];
    if (typeof found !== 'string' || found === '') throw notAMove(`"${key}" is not a text`);
    return found;
  };
  const from_state = word('from');
  const to_state = word('to');
  const at = parseIso(word('at'));
  if (at === undefined) throw notAMove('"at" is not a time');
  return {
    task_id: word('task'),
    at,
    from_state,
    to_state,
    triggered_by: word('by'),
    reason: optional(line.reason),
    rejection: line.rejection === true ? 1 : 0,
    from_status: optional(line.from_status) ?? statusOfState(from_state),
    to_status: optional(line.to_status) ?? statusOfState(to_state),
  };
}

function optional(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function notAMove(why: string): ForgeError {
  return new ForgeError('invalid_input', `Not a transition: ${why}`);
}
