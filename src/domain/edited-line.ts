import { parseIso } from '#kernel/clock.ts';
import type { JsonObject } from '#kernel/json.ts';
import { digestRecord } from './record-digests.ts';
import { isSealed } from './record-seal.ts';
import type { EditedLine } from './take-in-edits.ts';
import { FIELD_NAMES, lastStamp, MAP_NAMES, type TaskRecord } from './task-record.ts';

const PLAIN_KEYS = [...FIELD_NAMES, ...MAP_NAMES];

/** Undefined for a line that is as Forge wrote it: then its stamps tell the truth. */
export function editedLine(text: string, json: JsonObject, record: TaskRecord): EditedLine | undefined {
  if (isSealed(text)) return undefined;
  const { _v, updated_at } = json;
  const stamps = typeof _v === 'object' && _v !== null && !Array.isArray(_v) ? (_v as JsonObject) : {};
  const updated = (typeof updated_at === 'string' ? parseIso(updated_at) : undefined) ?? record.created;
  const written = stamps['updated_at'];
  const seal = stamps['_v'];
  const isNamed = typeof seal === 'string' && /^[0-9a-z]{1,11}$/.test(seal);
  // Forge writes digests with a seal: without it the stamps are those of another line, and tell nothing.
  const isBare = _v === undefined || (typeof written === 'string' && !isNamed);
  return {
    record,
    updated,
    ...(isBare && { unstamped: { missing: new Set(PLAIN_KEYS.filter((key) => !(key in json))) } }),
    seal: isNamed ? seal : `~${Math.max(0, updated).toString(36)}`,
    written: isNamed && typeof written === 'string' ? written : undefined,
  };
}

/** A line that is as Forge wrote it, although edits of it were taken in. Undefined for all others. */
export function writtenLine(
  text: string,
  record: TaskRecord,
  known: TaskRecord | undefined,
): EditedLine | undefined {
  if (known?.hand === undefined) return undefined;
  const seal = /"_v":"([0-9a-z]{1,11})"\}\}$/.exec(text)?.[1] ?? '';
  const isKnown = [...known.hand.keys()].some((line) => line.startsWith(`${seal}:`));
  return isKnown ? { record, seal, written: digestRecord(record), updated: lastStamp(record) } : undefined;
}
