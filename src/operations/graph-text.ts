import { splitCharacters, toLine } from './graph-label.ts';
import { textWidth } from './text-width.ts';

/** Enough for two lines of the narrowest letters; a longer title is not measured to its end. */
const MEASURED = 200;
const NARROW = new Set("ijlI.,:;'|!`()[]{} ftr");
const BROAD = new Set('mwMW@%');
const PICTURE = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

/** Text or attribute value: no markup and no character that XML forbids survives. */
export function escapeXml(text: string): string {
  return toLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** As many lines as allowed of that width, broken at spaces where there are any, the last one shortened. */
export function wrapLines(text: string, options: { width: number; size: number; lines: number }): string[] {
  const parts = splitCharacters(toLine(text).trim(), MEASURED);
  const lines: string[] = [];
  let start = 0;
  while (start < parts.length && lines.length < options.lines - 1) {
    const end = findBreak(parts, start, options);
    lines.push(parts.slice(start, end).join('').trim());
    start = end;
  }
  if (start < parts.length) lines.push(fitParts(parts.slice(start), options));
  return lines;
}

/** One line of at most that width. */
export function fitLine(text: string, options: { width: number; size: number }): string {
  return fitParts(splitCharacters(toLine(text).trim(), MEASURED), options);
}

/** Roughly, and rather too wide than too narrow: nobody knows which font will draw it. */
export function measure(text: string, size: number): number {
  return splitCharacters(text, MEASURED).reduce((sum, part) => sum + emWidth(part), 0) * size;
}

function findBreak(
  parts: readonly string[],
  start: number,
  options: { width: number; size: number },
): number {
  let used = 0;
  let opportunity = start;
  for (let i = start; i < parts.length; i += 1) {
    const part = parts[i] ?? '';
    used += emWidth(part) * options.size;
    if (part === ' ') opportunity = i + 1;
    if (used > options.width && part !== ' ')
      return opportunity > start ? opportunity : Math.max(i, start + 1);
    if (part === '-' || part === '/' || isWide(part)) opportunity = i + 1;
  }
  return parts.length;
}

function fitParts(parts: readonly string[], options: { width: number; size: number }): string {
  const ellipsis = emWidth('…') * options.size;
  let used = 0;
  let fitting = 0;
  for (const [i, part] of parts.entries()) {
    used += emWidth(part) * options.size;
    if (used > options.width) return `${parts.slice(0, fitting).join('').trim()}…`;
    if (used + ellipsis <= options.width) fitting = i + 1;
  }
  return parts.join('').trim();
}

function emWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0x7e) return wideWidth(character);
  if (NARROW.has(character)) return 0.34;
  if (BROAD.has(character)) return 0.92;
  if (code >= 0x41 && code <= 0x5a) return 0.69;
  return 0.58;
}

function wideWidth(character: string): number {
  if (isWide(character)) return PICTURE.test(character) ? 1.35 : 1.02;
  return textWidth(character) === 0 ? 0 : 0.66;
}

/** Fills a square, as in Chinese or Japanese: a line may end after any of them. */
function isWide(character: string): boolean {
  return character > '\u007e' && textWidth(character) > 1;
}
