import { isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { decodeRecord } from './record-codec.ts';
import type { TaskRecord } from './task-record.ts';

/** Undefined for a line that is no task. */
export function tryReadRecord(line: string): TaskRecord | undefined {
  try {
    return decodeRecord(readJson(line) as Json);
  } catch (error) {
    if (isForgeError(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
