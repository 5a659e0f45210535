const ASCII = /^[\x20-\x7e]*$/;

const JOINER = 0x200d;
const PICTURE_SELECTOR = 0xfe0f;

/**
 * Cells that one line of text takes on a terminal. Close enough for aligned columns: sequences joined by
 * U+200D count as their first character, flags as one picture. Control characters must be escaped before.
 */
export function textWidth(text: string): number {
  return ASCII.test(text) ? text.length : countCells(text).cells;
}

/** The beginning of a text that fits, with an ellipsis where something was cut off. */
export function truncateText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return '';
  return `${text.slice(0, countCells(text, width - 1).units)}…`;
}

/** All of a text, in as many lines as it takes. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (textWidth(rest) > width) {
    // A character that is wider than the line is cut as a whole.
    const units = countCells(rest, width).units || 1;
    const blank = rest.lastIndexOf(' ', units);
    const at = blank > units / 2 ? blank + 1 : units;
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at);
  }
  return rest === '' && lines.length > 0 ? lines : [...lines, rest];
}

/** Lines of whole words, each behind the indent; a word that is wider than the line stays whole. */
export function wrapWords(text: string, { columns, indent }: { columns: number; indent: string }): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    if (line === undefined) line = `${indent}${word}`;
    else if (textWidth(line) + 1 + textWidth(word) <= columns) line = `${line} ${word}`;
    else {
      lines.push(line);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line ?? indent];
}

/** Counts until the limit would be passed; `units` is where the text can be cut without breaking a character. */
function countCells(text: string, limit = Number.POSITIVE_INFINITY): { cells: number; units: number } {
  let cells = 0;
  let units = 0;
  let before = 0;
  let flag = false;
  let joined = false;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    let width = characterWidth(character, point);
    const indicator = point >= 0x1f1e6 && point <= 0x1f1ff;
    // The second half of a flag, a skin tone and what follows a joiner belong to what stands before them.
    if (joined || (indicator && flag) || (point >= 0x1f3fb && point <= 0x1f3ff && before === 2)) width = 0;
    if (point === PICTURE_SELECTOR && before === 1) width = 1;
    if (cells + width > limit) break;
    flag = indicator && !flag;
    joined = point === JOINER;
    if (width > 0) before = width;
    cells += width;
    units += character.length;
  }
  return { cells, units };
}

function characterWidth(character: string, point: number): number {
  if (point < 0x300) return point === 0xad ? 0 : 1;
  if (isZeroWidth(character)) return 0;
  return isWide(character) ? 2 : 1;
}

// The two expressions stand inside of functions: V8 reads such classes when the expression is made, and every command
// loads this file.

/** Marks that stand over another character, and format characters. */
function isZeroWidth(character: string): boolean {
  return /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u.test(character);
}

/** East Asian wide and full-width characters, and emoji that are shown as pictures. */
function isWide(character: string): boolean {
  return /^(?:[\u1100-\u115f\u231a\u231b\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u.test(
    character,
  );
}
