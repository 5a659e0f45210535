import { MASK } from './secret-mask.ts';

/** The beginnings of keys that are exact enough to tell a key by a part of it. */
const BEGIN =
  /gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rtr?|cbt|ffct|wt)-|xox[abcdeprs]-|xapp-|sk-ant-|sk-proj-|AIza|A[KS]IA|ya29\.|GOCSPX-|npm_|hf_|gsk_|[rs]k_(?:live|test)_|whsec_|GR1348941|ABSK|fgt_/;
const NAME = /^[a-z]+(?:[_-][a-z0-9_-]*)?$|^[A-Z]+(?:_[A-Z0-9_]*)?$/;
/** No program breaks a line that is shorter, unless it is told to; a key that is whole goes on only where one does. */
const WIDE = 60;
const LONGEST = 300;

/**
 * For lines one after the other: of a key that a line ends in the middle of, this part and the lines that go on with it.
 * `shown` is the line without the keys that are whole.
 */
export function createBreakMask(): (shown: string, line: string) => string {
  let isInKey = false;
  return (shown, line) => {
    let masked = shown;
    const whole = toWholeRun(shown);
    if (isInKey && whole !== undefined && looksRandom(whole)) return shown.replace(whole, MASK);
    isInKey = false;
    const piece = findBegun(line);
    if (piece === undefined) return masked;
    const at = shown.lastIndexOf(piece);
    if (at !== -1) masked = shown.slice(0, at) + MASK + shown.slice(at + piece.length);
    isInKey = at !== -1 || line.length >= WIDE;
    return masked;
  };
}

/** The line but for what indents it, and what says that it goes on. */
function toWholeRun(line: string): string | undefined {
  return /^[\s|>]{0,20}([A-Za-z0-9_.-]{2,300})[\\=]?\s{0,2}$/.exec(line)?.[1];
}

/** What at the end of the line begins as a key does. */
function findBegun(line: string): string | undefined {
  const tail = line.slice(-LONGEST).replace(/[\\=]?\r?$/, '');
  let from = tail.length;
  while (from > 0 && /[A-Za-z0-9_.-]/.test(tail.charAt(from - 1))) from -= 1;
  const run = tail.slice(from);
  const begin = BEGIN.exec(run);
  if (begin === null) return undefined;
  const rest = run.slice(begin.index + begin[0].length);
  return rest.length >= 4 && looksRandom(rest) ? run.slice(begin.index) : undefined;
}

function looksRandom(text: string): boolean {
  return !NAME.test(text) && (/[a-z0-9][A-Z]/.test(text) || (/[0-9]/.test(text) && /[A-Za-z]/.test(text)));
}
