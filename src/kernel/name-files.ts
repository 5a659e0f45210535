import { LIMITS } from './limits.ts';
import { escapeLine } from './text.ts';

/**
 * A name that an agent or another person chose, inside of a sentence of Forge's: it cannot be
 * read as Forge's own words. A plain one stays as it is; every other is in quotes, with those in it, backticks and
 * controls written out.
 */
export function quoteName(name: string): string {
  // Inside of the function: V8 reads such a class when the expression is made, and every command loads this file.
  return /^[\p{L}\p{M}\p{N}_./@+-]+$/u.test(name)
    ? name
    : `"${escapeLine(name.replaceAll(/[\\"`]/g, (mark) => MARKS[mark] ?? mark))}"`;
}

const MARKS: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '`': '\\u0060' };

/** The first of them, and how many more there are. */
export function nameFiles(names: readonly string[], most: number = LIMITS.attempt_files_named): string {
  const shown = names.slice(0, most).map(quoteName);
  const more = names.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
