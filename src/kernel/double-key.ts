import type { Json, JsonObject } from './json.ts';

/**
 * The path of the first key that its object holds already (`metadata.owner`, `rows[1].id`), undefined when there is
 * none. The text must be JSON: reading it keeps the last of them only, and another reader may keep the first.
 */
export function findDoubleKey(text: string): string | undefined {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;
  const open: Place[] = [];
  let quoted = '';
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [mark] = found;
    const place = open.at(-1);
    if (mark === '{') open.push({ keys: new Set(), at: '' });
    else if (mark === '[') open.push({ keys: undefined, at: 0 });
    else if (mark === '}' || mark === ']') open.pop();
    else if (mark === ',' && typeof place?.at === 'number') place.at += 1;
    else if (mark === ':' && place?.keys !== undefined) {
      const key = JSON.parse(quoted) as string; // the text before a colon is a key
      place.at = key;
      if (place.keys.has(key)) return toPath(open);
      place.keys.add(key);
    } else if (mark.startsWith('"')) quoted = mark;
  }
  return undefined;
}

/**
 * How many members a value has, at all levels. Reading drops one where a key stands twice, so that a text with more of
 * them than its value has such a key.
 */
export function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value as JsonObject).reduce<number>((sum, one) => sum + countMembers(one), own);
}

/** An object or a list that is not closed yet, and where in it the reading is. */
interface Place {
  readonly keys: Set<string> | undefined;
  at: string | number;
}

function toPath(places: readonly Place[]): string {
  return places
    .map(({ at }, depth) => (typeof at === 'number' ? `[${at}]` : `${depth === 0 ? '' : '.'}${at}`))
    .join('');
}
