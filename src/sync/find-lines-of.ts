import type { LoggedMove } from '#domain/linked-moves.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { parseIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';

/**
 * Every line of a task in the bytes of a task file; a file that is only added to has several. Lines that are not as Forge
 * writes them are passed over.
 */
export function findRecords(bytes: Buffer, id: string): TaskRecord[] {
  return findLines(bytes, `{"id":${JSON.stringify(id)},`, decodeRecord);
}

/** The same of the log of moves. */
export function findMoves(bytes: Buffer, id: string): LoggedMove[] {
  const moves = findLines(bytes, `{"task":${JSON.stringify(id)},`, ({ at, from, to }) => {
    const stamp = typeof at === 'string' ? parseIso(at) : undefined;
    if (stamp === undefined || typeof from !== 'string' || typeof to !== 'string') return undefined;
    return { at: stamp, from, to };
  });
  return moves.filter((move) => move !== undefined);
}

const NEWLINE = 0x0a;

function findLines<T>(bytes: Buffer, mark: string, decode: (line: JsonObject) => T): T[] {
  const found: T[] = [];
  for (let start = bytes.indexOf(mark); start >= 0; start = bytes.indexOf(mark, start + mark.length)) {
    if (start > 0 && bytes[start - 1] !== NEWLINE) continue;
    const end = bytes.indexOf(NEWLINE, start);
    const text = bytes.toString('utf8', start, end < 0 ? bytes.length : end);
    try {
      found.push(decode(parseJson(text, 'The line') as JsonObject));
    } catch (error) {
      if (!isForgeError(error)) throw error;
    }
  }
  return found;
}
