import { encodeForRow } from './record-codec.ts';
import type { TaskRecord } from './task-record.ts';

/** A record in the forms that rows and replicas need; each costs enough to be made once. */
export interface EncodedRecord {
  readonly record: TaskRecord;
  readonly line: string;
  readonly digest: number;
  readonly updated_at: string;
  readonly stamps: string | null;
}

export function toEncoded(record: TaskRecord): EncodedRecord {
  return { record, ...encodeForRow(record) };
}
