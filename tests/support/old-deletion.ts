import { toIso } from '#kernel/clock.ts';
import { deleteRecord } from '#domain/task-changes.ts';
import {
  FIELD_DEFAULTS,
  type ElementMap,
  type FieldName,
  type Register,
  type TaskRecord,
} from '#domain/task-record.ts';

/** A deletion as earlier versions wrote it, in lines that are still about: every content field emptied with its stamp. */
export function emptyRecord(record: TaskRecord, now: number): TaskRecord {
  const stamp = deleteRecord(record, now).fields.get('deleted_at')?.stamp ?? now;
  const fields = new Map<string, Register>();
  for (const name of record.fields.keys()) {
    const value = Object.hasOwn(FIELD_DEFAULTS, name) ? FIELD_DEFAULTS[name as FieldName] : null;
    fields.set(name, { value, stamp });
  }
  fields.set('deleted_at', { value: toIso(stamp), stamp });
  const empty: ElementMap = { floor: stamp, elements: new Map() };
  return { ...record, fields, labels: empty, dependencies: empty, metadata: empty, conflicts: empty };
}
