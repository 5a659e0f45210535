import { skipSigns, toSignSet } from './sign-sets.ts';

/** Longer ones are no codes. */
const PARAMETERS_AT_MOST = 64;
const STRING_AT_MOST = 1_024;

const PARAMETERS = toSignSet(/[0-?]/);
const BETWEEN = toSignSet(/[ -/]/);
const CSI = 0x9b;
/** DCS, SOS, OSC, PM and APC: what follows is a string up to its end. */
const STRINGS: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);
const ST = 0x9c;
const ESC = 0x1b;
const BEL = 0x07;
const NEWLINE = 0x0a;

/**
 * The place behind the code of a terminal (ECMA-48) that begins at `at`, with ESC or with a control character beyond ASCII;
 * behind that one character where no whole code begins there.
 */
export function skipTerminalCode(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first !== ESC) return skipControl(text, at + 1, first);
  const second = text.charCodeAt(at + 1);
  // ESC and a letter from @ to _ are the same as one control character beyond ASCII.
  if (second >= 0x40 && second <= 0x5f) return skipControl(text, at + 2, second + 0x40);
  const end = skipSigns(text.slice(at + 1, at + 1 + PARAMETERS_AT_MOST), 0, BETWEEN) + at + 1;
  const last = text.charCodeAt(end);
  return last >= 0x30 && last <= 0x7e ? end + 1 : at + 1;
}

function skipControl(text: string, at: number, control: number): number {
  if (control === CSI) return skipSequence(text, at);
  return STRINGS.has(control) ? skipString(text, at) : at;
}

function skipSequence(text: string, at: number): number {
  const part = text.slice(at, at + PARAMETERS_AT_MOST);
  const end = skipSigns(part, skipSigns(part, 0, PARAMETERS), BETWEEN);
  const last = part.charCodeAt(end);
  return last >= 0x40 && last <= 0x7e ? at + end + 1 : at;
}

/** One that does not end goes to the end of its line, or as far as one may go. */
function skipString(text: string, at: number): number {
  const most = Math.min(text.length, at + STRING_AT_MOST);
  for (let end = at; end < most; end += 1) {
    const code = text.charCodeAt(end);
    if (code === BEL || code === ST) return end + 1;
    if (code === NEWLINE) return end;
    if (code === ESC) return text[end + 1] === '\\' ? skipBackslashes(text, end + 2) : end;
  }
  return most;
}

/** In JSON the backslash that ends a string is two, in JSON of JSON four. */
function skipBackslashes(text: string, at: number): number {
  let end = at;
  while (end < at + 3 && text[end] === '\\') end += 1;
  return end;
}

/** How many letters the code from `at` to `to` moves the cursor back by; 0 for every other code. */
export function countBack(text: string, at: number, to: number): number {
  if (text[to - 1] !== 'D') return 0;
  const begin = text.charCodeAt(at) === CSI ? at + 1 : text.startsWith('\u001b[', at) ? at + 2 : to;
  if (begin >= to) return 0;
  const number = text.slice(begin, to - 1);
  return /^\d{0,9}$/.test(number) ? Math.max(1, Number(number)) : 0;
}
