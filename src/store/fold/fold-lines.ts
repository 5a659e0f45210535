import { toEncoded, type EncodedRecord } from '#domain/encoded-record.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import { editedLine } from '#domain/edited-line.ts';
import type { EditedLine } from '#domain/take-in-edits.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import type { FileLine } from '../replication.ts';

/** A line of a file as a task. */
export interface IncomingTask {
  readonly record: TaskRecord;
  readonly line: FileLine;
  /** Where a person may have changed values and left their stamps. */
  readonly edited: EditedLine | undefined;
  /** The line's object, of such a line. */
  readonly json?: JsonObject | undefined;
  /** Keys of values that cannot be read, where the others can. */
  readonly bad?: ReadonlySet<string> | undefined;
  /** A line without stamps that is not the last one of its task in the file. */
  readonly is_former?: boolean | undefined;
  /** Where the line is canonical already: then nobody has to write it again. */
  readonly encoded: EncodedRecord | undefined;
}

/** Throws invalid_input with the reason for a line that is no task. */
export function decodeLine(line: FileLine): IncomingTask {
  return decodeCanonical(line) ?? decodeAny(line);
}

/** What may be an integer that cannot be counted exactly; such a line is refused, also where it reads and writes alike. */
const HUGE_NUMBER = /\d{16}|\de\+/;

/**
 * Most lines are as Forge wrote them. One that gives the very same line again has lost nothing by being read, so the
 * checks that JSON of others needs (parseJson) can be left out: they take as long as all the rest.
 */
function decodeCanonical(line: FileLine): IncomingTask | undefined {
  // Without this look each line that is no task would be parsed, and an error made, once more.
  if (!line.text.startsWith('{"id":') || HUGE_NUMBER.test(line.text)) return undefined;
  try {
    const json = readJson(line.text) as JsonObject;
    const record = decodeRecord(json);
    const encoded = toEncoded(record);
    if (encoded.line !== line.text) return undefined;
    return { record, line, edited: undefined, encoded };
  } catch {
    return undefined; // decodeAny says what is wrong
  }
}

function decodeAny(line: FileLine): IncomingTask {
  const json = parseJson(line.text, 'The line') as JsonObject;
  const record = decodeRecord(json);
  return { record, line, edited: editedLine(line.text, json, record), json, encoded: undefined };
}

/** The reason why a line cannot be read; rethrows what is no fault of the line. */
export function whyUnreadable(error: unknown): string {
  if (isForgeError(error) && error.code === 'invalid_input') return error.message;
  throw error;
}

/** The id of a line as Forge writes it, without reading the rest; undefined for any other line. */
export function quickId(text: string): string | undefined {
  if (!text.startsWith('{"id":"')) return undefined;
  const end = text.indexOf('"', 7);
  const id = text.slice(7, end);
  return end < 0 || id.includes('\\') ? undefined : id;
}

/** Two tasks were born with one id: the file has to be looked at as a whole. */
export class SharedBirth extends Error {}
