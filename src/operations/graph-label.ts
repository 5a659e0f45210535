import { compareText, escapeLine } from '#kernel/text.ts';
import { LOOKS, type ShapeItem } from './graph-shape.ts';

const ASCII = /^[\x20-\x7e]*$/;

/** Other people's text for a drawing: on one line, everything that hides or reorders made visible. */
export function toLine(text: string): string {
  // XML has no way to hold these two, and nothing draws them.
  return escapeLine(text).replace(/[\ufffe\uffff]/g, (found) => `\\u${found.charCodeAt(0).toString(16)}`);
}

/** At most so many characters as a person counts them; an ellipsis says that there was more. */
export function shorten(text: string, max: number): string {
  const line = toLine(text);
  if (line.length <= max) return line;
  const parts = splitCharacters(line, max + 1);
  return parts.length <= max
    ? line
    : `${parts
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`;
}

/** The first characters as a person sees them: an emoji of five code points is one. */
export function splitCharacters(text: string, max: number): string[] {
  if (ASCII.test(text)) return Array.from(text.slice(0, max));
  const parts: string[] = [];
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    parts.push(segment);
    if (parts.length === max) break;
  }
  return parts;
}

/** The word under a task: the state of its workflow says more than the status where it has one of its own. */
export function describeLook(item: Pick<ShapeItem, 'look' | 'task'>): string {
  if (item.look === 'ready' || item.look === 'blocked' || item.task === null) return item.look;
  return toLine(item.task.state || item.look).replaceAll('_', ' ');
}

/** What a person should see first: what can be done now, the urgent before the rest. */
export function compareUrgency(a: ShapeItem, b: ShapeItem): number {
  return (
    LOOKS.indexOf(a.look) - LOOKS.indexOf(b.look) ||
    (a.task?.priority ?? 0) - (b.task?.priority ?? 0) ||
    compareText(a.id, b.id)
  );
}
