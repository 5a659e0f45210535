import { compareText } from '#kernel/text.ts';

/**
 * Lines that are no tasks, of two sides that both go on from `base`: what either added, without what either took away,
 * the same whichever side is called the first. They may be pieces of something that belongs together, so the order of
 * a side stays, and so do pieces that stand there several times.
 */
export function mergeUnreadable(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): readonly string[] {
  if (isSame(ours, theirs) || isSame(theirs, base)) return ours;
  if (isSame(ours, base)) return theirs;
  const [first, second] =
    compareText(ours.join('\n'), theirs.join('\n')) < 0 ? [ours, theirs] : [theirs, ours];
  const known = new Set(base);
  const left = without(first, known, new Set(second));
  const right = without(second, known, new Set(first));
  const start = countEqual(left, right);
  const end = countEqual(left.slice(start).reverse(), right.slice(start).reverse());
  const middle = left.slice(start, left.length - end);
  const whole = new Set(middle.filter(isWhole));
  const more = right.slice(start, right.length - end).filter((line) => !whole.has(line));
  return [...left.slice(0, start), ...middle, ...more, ...left.slice(left.length - end)];
}

/** Without what the other side took away. */
function without(
  lines: readonly string[],
  base: ReadonlySet<string>,
  other: ReadonlySet<string>,
): readonly string[] {
  return lines.filter((line) => other.has(line) || !base.has(line));
}

/** A line that says all by itself is needed once; a piece, such as a bracket, as often as it stands there. */
function isWhole(line: string): boolean {
  return line.startsWith('{') && line.endsWith('}') && line.length > 2;
}

function countEqual(a: readonly string[], b: readonly string[]): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && a[count] === b[count]) count += 1;
  return count;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && countEqual(a, b) === a.length;
}
