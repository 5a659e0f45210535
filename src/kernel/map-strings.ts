const MAX_DEPTH = 32;
/** Names for one string; further ones are left out. */
const MAX_NAMES = 8;
const NO_NAMES: readonly string[] = [];

/** `names` are what stands around the text and may say what it is: only those that `isName` accepts. */
export type MapString = (text: string, names: readonly string[]) => string;

/**
 * The same value with every string in it replaced, keys too. What is nested too deep is left out with a word. The names
 * of a string are the keys above it, the string before it in a list, and other strings of the same object, because
 * `{name: "A", value: "b"}` and `["A", "b"]` say the same as `{A: "b"}`.
 */
export function mapStrings(
  value: unknown,
  map: MapString,
  isName: (text: string) => boolean = () => false,
): unknown {
  const walk = (one: unknown, names: readonly string[], depth: number): unknown => {
    if (typeof one === 'string') return map(one, names);
    if (typeof one !== 'object' || one === null) return one;
    if (depth > MAX_DEPTH) return '(nested too deep)';
    if (Array.isArray(one))
      return one.map((item, at) => walk(item, addNames(names, [one[at - 1]], isName), depth + 1));
    const siblings = addNames(names, Object.values(one), isName);
    return Object.fromEntries(
      Object.entries(one).map(([key, item]) => [
        map(key, NO_NAMES),
        walk(item, addNames(siblings, [key], isName), depth + 1),
      ]),
    );
  };
  return walk(value, NO_NAMES, 0);
}

/** The nearest come last and stay. */
function addNames(
  names: readonly string[],
  more: readonly unknown[],
  isName: (text: string) => boolean,
): readonly string[] {
  const added = more.filter((one) => typeof one === 'string').filter(isName);
  return added.length === 0 ? names : [...names, ...added].slice(-MAX_NAMES);
}
