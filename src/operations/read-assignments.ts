import { boundText } from '#kernel/body-scan.ts';
import { ForgeError } from '#kernel/errors.ts';
import { emptyObject, parseJson } from '#kernel/json.ts';

export interface Assignments {
  /** No prototype: a key may be any word. */
  readonly values: Record<string, unknown>;
  /** Keys whose text is still in a file. */
  readonly files: readonly { readonly key: string; readonly path: string }[];
}

/**
 * `key=value` of a repeated flag. A value that looks like JSON is JSON, any other is text; `@file` and `@-` take
 * the text of a file or of standard input, `@@text` is the text `@text`. Of one key the last one counts.
 * Throws usage or invalid_input; `flag` (`--meta-set`) is what the message calls it.
 */
export function readAssignments(texts: readonly string[], flag: string): Assignments {
  const values = emptyObject<unknown>();
  const files = new Map<string, string>();
  for (const text of texts) {
    const { key, value } = splitAssignment(text, flag);
    // The last one counts, also between a value and a file.
    delete values[key];
    files.delete(key);
    if (value.startsWith('@') && !value.startsWith('@@')) files.set(key, readPath(value, key, flag));
    else values[key] = readValue(value, key, flag);
  }
  return { values, files: [...files].map(([key, path]) => ({ key, path })) };
}

function splitAssignment(text: string, flag: string): { key: string; value: string } {
  const equals = text.indexOf('=');
  if (equals > 0) return { key: text.slice(0, equals), value: text.slice(equals + 1) };
  throw new ForgeError('usage', `${flag} wants key=value, not ${JSON.stringify(text)}`, {
    hint: `${flag} ${equals === 0 ? 'key' : text || 'key'}=value`,
  });
}

function readPath(value: string, key: string, flag: string): string {
  if (value.length > 1) return value.slice(1);
  throw new ForgeError('usage', `${flag} ${key}=@ names no file`, {
    hint: `${flag} ${key}=@file, ${key}=@- for standard input, or ${key}=@@ for the text "@"`,
  });
}

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$|^[{["]/;

function readValue(value: string, key: string, flag: string): unknown {
  if (value.startsWith('@@')) return value.slice(1);
  if (!LITERAL.test(value)) return value;
  const what = `${flag} ${key}`;
  try {
    boundText(value, what);
    return parseJson(value, what);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.hint !== undefined) throw error;
    throw new ForgeError(error.code, error.message, {
      hint: `A value that begins with {, [ or " is read as JSON; for plain text write it as a JSON string`,
      details: error.details,
      cause: error,
    });
  }
}
