import { ForgeError } from '#kernel/errors.ts';
import { checkJsonDepth, parseJson, type Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { utf8Length } from '#kernel/text.ts';

/** The rules that no schema can say. Throws invalid_input. */
export function checkMetadata(values: Readonly<Record<string, unknown>>): Map<string, Json> {
  const checked = new Map<string, Json>();
  for (const [key, value] of Object.entries(values)) {
    if (key === '' || key.length > LIMITS.metadata_key_length || key.includes('\u0000')) {
      throw new ForgeError(
        'invalid_input',
        `A metadata key has 1 to ${LIMITS.metadata_key_length} characters and no NUL`,
        {
          details: { limit: LIMITS.metadata_key_length },
        },
      );
    }
    const json = value as Json; // inputs come from JSON
    checkJsonDepth(json, `Metadata "${key}"`);
    const text = JSON.stringify(json);
    if (holdsNul(text)) {
      throw new ForgeError('invalid_input', `Metadata "${key}" holds a NUL character`);
    }
    checkSize(text, `Metadata "${key}"`, LIMITS.metadata_bytes);
    // A surface may have read a number that no line of a task is read with again.
    parseJson(text, `Metadata "${key}"`);
    checked.set(key, json);
  }
  return checked;
}

/** An escaped NUL, not the six characters that only look like one: those have another backslash before them. */
function holdsNul(json: string): boolean {
  for (let at = json.indexOf(NUL); at !== -1; at = json.indexOf(NUL, at + 1)) {
    let from = at;
    while (json[from - 1] === '\\') from -= 1;
    if ((at - from) % 2 === 0) return true;
  }
  return false;
}

const NUL = String.raw`\u0000`;

/** What the whole metadata of a task may hold after a change. */
export function checkMetadataSize(encoded: string): void {
  checkSize(encoded, 'The metadata of a task', LIMITS.metadata_bytes);
}

/** `what` takes at most `limit` bytes; schemas count characters, files and databases bytes. */
export function checkSize(text: string, what: string, limit: number): void {
  if (text.length * 3 <= limit) return;
  const bytes = utf8Length(text);
  if (bytes <= limit) return;
  throw new ForgeError('invalid_input', `${what} takes ${bytes} bytes; the limit is ${limit}`, {
    details: { bytes, limit },
  });
}
