import { mapStrings } from '#kernel/map-strings.ts';
import { type FoundSecret, listSecrets, maskSecrets } from './find-secrets.ts';
import { MASK } from './secret-mask.ts';

const NAME_AT_MOST = 100;
/** All names that a form of `SECRET_PATTERNS` asks for before a value end with one of these words. */
const NAME = /(?:key|token|authorization|_auth|bearer|password|pwd|passwd)$/i;
/** Between a name and its value: each form that has a name knows one of these. */
const JOINTS = [': ', '=', ' '];

/**
 * Without what is between a name and its value in a command or a header (`Authorization:`), and without the stamps that the
 * name of a lost value has behind it (`metadata.Authorization@mwls5so8.bhj`).
 */
function toName(text: string): string {
  return text
    .slice(0, NAME_AT_MOST + 1)
    .replace(/[\s"':=]{1,8}$|@[0-9a-z.]{1,40}$/, '')
    .replace(/^metadata\./, '');
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

/** What the strings of it seem to hold, each once, also what only its name says to be secret. */
export function listNamedSecrets(value: unknown): FoundSecret[] {
  const found = new Map<string, FoundSecret>();
  redactNamed(value, (text) => {
    for (const one of listSecrets(text)) if (!found.has(one.value)) found.set(one.value, one);
    return maskSecrets(text);
  });
  return [...found.values()];
}

/** Whether a text of JSON has a key or a value that is such a name: then its strings have to be looked at one by one. */
export function hasSecretName(json: string): boolean {
  return /(?:key|token|authorization|_auth|bearer|password|pwd|passwd)[\s:=]{0,8}(?:@[0-9a-z.]{1,40})?"/i.test(
    json,
  );
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
