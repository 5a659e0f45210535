const MAX_DEPTH = 32;

/** The same value with every string in it replaced, keys too. What is nested too deep is left out with a word. */
export function mapStrings(value: unknown, map: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '(nested too deep)';
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, map, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [map(key), mapStrings(one, map, depth + 1)]),
  );
}
