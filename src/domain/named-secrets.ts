import { mapStrings } from '#kernel/map-strings.ts';
import { MASK } from './secret-mask.ts';

const NAME_AT_MOST = 100;
/** All names that a form of `SECRET_PATTERNS` asks for before a value end with one of these words. */
const NAME = /(?:key|token|authorization|_auth|bearer|password|pwd|passwd)$/i;
/** Between a name and its value: each form that has a name knows one of these. */
const JOINTS = [': ', '=', ' '];

/** Without what is between a name and its value in a command or a header (`Authorization:`). */
function toName(text: string): string {
  return text.slice(0, NAME_AT_MOST + 1).replace(/[\s"':=]{1,8}$/, '');
}

function isSecretName(text: string): boolean {
  return text.length <= NAME_AT_MOST && NAME.test(toName(text));
}

/** A value begins right behind its name, so of a long text only the beginning is looked at again. */
const VALUE_AT_MOST = 16_384;

/**
 * Every string of it redacted, keys too. A value is looked at together with its name wherever that stands, because a
 * header or a variable in an object is the same secret as in one line of text. `redactFirst` may also cut what is long.
 */
export function redactNamed(
  value: unknown,
  redact: (text: string) => string,
  redactFirst: (text: string) => string = redact,
): unknown {
  const hide = (shown: string, name: string): string =>
    JOINTS.reduce((rest, joint) => hideBehind(`${redact(toName(name))}${joint}`, rest, redact), shown);
  return mapStrings(value, (text, names) => names.reduce(hide, redactFirst(text)), isSecretName);
}

function hideBehind(before: string, text: string, redact: (text: string) => string): string {
  const joined = before + text.slice(0, VALUE_AT_MOST);
  const shown = redact(joined);
  if (shown === joined) return text;
  // What is found may go from the name into the value, or on behind the part that is looked at.
  if (!shown.startsWith(before)) return MASK;
  const rest = shown.endsWith(MASK) ? '' : text.slice(VALUE_AT_MOST);
  return shown.slice(before.length) + rest;
}
