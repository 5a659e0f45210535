/**
 * `JSON.parse` with the keys that the text has. The V8 of Node 24 takes a key with an escape in it (`"k\n"`) for a
 * key that it has seen elsewhere and that ends where the escape begins (`"k\\"`), and a reviver gets the wrong one too.
 * Use it for everything whose keys somebody else chose. Text without a backslash costs no more than before.
 */
export function readJson(text: string, reviver?: Reviver): unknown {
  const value: unknown = JSON.parse(text, reviver);
  return hasEscapedKey(text) ? assemble(text, reviver) : value;
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** True also for some texts that only quote such a key. */
function hasEscapedKey(text: string): boolean {
  // From a quote before a colon back to the backslash that is nearest to it; of the key's quotes one may be escaped.
  return text.includes('\\') && /"\s*:(?<=\\"?[^"]*"\s*:)/.test(text);
}

/** The text must be JSON. Only texts in quotes and numbers are left to the parser, which have no keys. */
function assemble(text: string, reviver: Reviver = (_key, value) => value): unknown {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  const root: Place = { value: [], key: undefined };
  const open: Place[] = [root];
  for (const [mark] of text.matchAll(token)) {
    const place = open.at(-1) ?? root;
    if (mark === '}' || mark === ']') open.pop();
    else if (mark === '{' || mark === '[') {
      const value = mark === '{' ? {} : [];
      put(place, value);
      open.push({ value, key: undefined });
    } else if (mark.startsWith('"') && !Array.isArray(place.value) && place.key === undefined)
      place.key = JSON.parse(mark) as string; // a text in quotes
    else if (mark !== ',' && mark !== ':')
      put(place, reviver(place.key ?? '', JSON.parse(mark), { source: mark }));
  }
  return (root.value as unknown[])[0];
}

/** An object or a list that is not closed yet; with the key whose value comes next. */
interface Place {
  readonly value: Record<string, unknown> | unknown[];
  key: string | undefined;
}

function put(place: Place, value: unknown): void {
  if (Array.isArray(place.value)) {
    place.value.push(value);
    return;
  }
  const key = place.key ?? '';
  // `__proto__` stays plain data.
  Object.defineProperty(place.value, key, { value, writable: true, enumerable: true, configurable: true });
  place.key = undefined;
}
