import type { Json, JsonObject } from '#kernel/json.ts';
import { emptyObject } from '#kernel/json.ts';
import { utf8Length } from '#kernel/text.ts';

const NUL = '\u0000';
const CONTROLS = /[\u0000-\u001f\u007f\s]+/g;
const LINE_BREAKS = /[\n\r\u2028\u2029]+/g;

/** Text that every database and line-based tool can hold: no NUL, no half of a surrogate pair. */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes(NUL) ? whole.replaceAll(NUL, '\u2400') : whole;
}

/** The same for every text inside a value. Keys such as `__proto__` stay plain data. */
export function storableJson(value: Json): Json {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(storableJson);
  const copy = emptyObject<Json>();
  for (const [key, inner] of Object.entries(value as JsonObject)) copy[storable(key)] = storableJson(inner);
  return copy;
}

export function toOneLine(text: string): string {
  return text.replaceAll(LINE_BREAKS, ' ').trim();
}

/** A name or label: one line, no control characters, no spaces around it. */
export function toName(text: string): string {
  return storable(text).replaceAll(CONTROLS, ' ').trim();
}

/** At most `length` code units, never half a character. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/\ufffd$/, '');
}

/** Pieces of at most `bytes` bytes of UTF-8 each; together they are the text. */
export function splitBytes(text: string, bytes: number): string[] {
  if (utf8Length(text) <= bytes) return [text];
  const pieces: string[] = [];
  let from = 0;
  let size = 0;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at) ?? 0;
    const length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (size + length > bytes) {
      pieces.push(text.slice(from, at));
      from = at;
      size = 0;
    }
    size += length;
    at += point < 0x10000 ? 1 : 2;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** Paragraphs and titled sections into one Markdown text; empty ones are left out. */
export function joinSections(sections: readonly (readonly [title: string, text: string])[]): string {
  return sections
    .filter(([, text]) => text.trim() !== '')
    .map(([title, text]) => (title === '' ? text : `## ${title}\n\n${text}`))
    .join('\n\n');
}
