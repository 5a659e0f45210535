/**
 * C0 and C1 controls, the bidi marks that reorder a line on screen, zero-width characters, line separators
 * and lone surrogates: what can move a cursor, hide text or show it in another order.
 */
const DANGEROUS =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Other people's text on one line of a terminal. */
export function escapeLine(text: string): string {
  return text.replace(DANGEROUS, visible);
}

/** The same for text that may have lines of its own (descriptions): newline and tab stay. */
export function escapeText(text: string): string {
  return text.replace(DANGEROUS, (found) => (found === '\n' || found === '\t' ? found : visible(found)));
}

export function hasLoneSurrogate(text: string): boolean {
  return !text.isWellFormed();
}

function visible(found: string): string {
  if (found === '\n') return '\\n';
  if (found === '\t') return '\\t';
  if (found === '\r') return '\\r';
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A lone surrogate is written as U+FFFD, which takes three bytes. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** NaN, which is what lies behind the end of a text, is none. */
function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Left to right by code unit: the order of every canonical list, whatever the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
