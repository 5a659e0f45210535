/**
 * Characters that no screen shows: those that Unicode calls default ignorable (DerivedCoreProperties,
 * Default_Ignorable_Code_Point), those that are reserved to become so among them, the marks at both ends of annotations,
 * and the blank of Braille. As a table, because a pattern with \p takes a millisecond to compile. First and last of each range.
 */
const RANGES: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** How many units the invisible character has that begins at `at` with the unit `unit`, which is beyond ASCII; else 0. */
export function invisibleWidth(text: string, at: number, unit: number): 0 | 1 | 2 {
  // Nearly all letters of people.
  if (unit > 0x206f && unit < 0x2800) return 0;
  if (unit < 0xd800 || unit > 0xdfff) return isInvisible(unit) ? 1 : 0;
  // The first halves of those in the table.
  if (unit !== 0xd82f && unit !== 0xd834 && (unit < 0xdb40 || unit > 0xdb43)) return 0;
  return isInvisible(text.codePointAt(at) ?? 0) ? 2 : 0;
}

function isInvisible(code: number): boolean {
  let low = 0;
  let high = RANGES.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = RANGES[middle] ?? [0, 0];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}
