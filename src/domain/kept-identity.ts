import type { JsonObject } from '#kernel/json.ts';
import { editedLine } from './edited-line.ts';
import { isSameTask } from './identity.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { digestOfField, fieldIn, readDigests } from './record-digests.ts';
import type { EditedLine } from './take-in-edits.ts';
import { fieldValue, type TaskRecord } from './task-record.ts';

/**
 * Who made a task, and when, say which task it is. Where a person edited them in a line of a known task, it is still that
 * task, and the old ones stand; other edits of the line count. Undefined for a line of another task with the same id.
 */
export function keepIdentity(
  text: string,
  json: JsonObject,
  { known, edited }: { readonly known: TaskRecord; readonly edited: EditedLine },
): { readonly record: TaskRecord; readonly edited: EditedLine } | undefined {
  if (edited.written === undefined || known.id !== edited.record.id) return undefined;
  const { created_at, created_by } = known;
  // Decoded anew: stamps that are those of the creation are not written out.
  const own = { ...json, created_at, created_by };
  const record = decodeRecord(own);
  if (!isSameTask(known, record)) return undefined;
  if (edited.record.created !== known.created && !isLineOf(known, edited, record)) return undefined;
  const line = editedLine(text, own, record);
  return line === undefined ? undefined : { record, edited: line };
}

/** Whether Forge wrote the line for the known task: two tasks that were born with one id may both be edited by hand. */
export function isLineOf(known: TaskRecord, { seal, written }: EditedLine, own: TaskRecord): boolean {
  const isTaken = [...(known.hand?.keys() ?? [])].some((line) => line.startsWith(`${seal}:`));
  if (isTaken || [known, own].some((record) => encodeRecord(record).endsWith(`"_v":"${seal}"}}`)))
    return true;
  const digests = readDigests(written ?? '');
  return (
    digests !== undefined && fieldIn(digests, 'title') === digestOfField('title', fieldValue(known, 'title'))
  );
}
