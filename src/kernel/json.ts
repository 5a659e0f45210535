import { ForgeError } from './errors.ts';
import { LIMITS } from './limits.ts';
import { readJson } from './read-json.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * JSON text to a value that survives being written again. A number that a double cannot hold is refused,
 * because the next write would silently change it. Keys such as `__proto__` stay plain data.
 */
export function parseJson(text: string, what: string): Json {
  try {
    return readJson(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? checkNumber(value, context?.source, what) : value,
    ) as Json; // it gives nothing but Json
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    if (error instanceof RangeError) {
      throw new ForgeError(
        'invalid_input',
        `${what} is nested too deep; the limit is ${LIMITS.metadata_depth} levels`,
        {
          details: { limit: LIMITS.metadata_depth },
          cause: error,
        },
      );
    }
    throw new ForgeError('invalid_input', `${what} is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function checkNumber(value: number, source: string | undefined, what: string): number {
  const safe = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  if (safe && (source === undefined || toDecimal(source) === toDecimal(String(value)))) return value + 0; // -0 is written as 0, so it is read as 0
  throw new ForgeError(
    'invalid_input',
    `${what} holds the number ${source ?? value}, which JSON readers cannot keep exactly`,
    {
      hint: 'Write it as a string: "…"',
      details: { limit: Number.MAX_SAFE_INTEGER },
    },
  );
}

/** The same number in one spelling, sign left out: `1.50e1` and `15` are both `15e0`. */
function toDecimal(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

export function jsonDepth(value: Json): number {
  let deepest = 0;
  const open: { value: Json; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    deepest = Math.max(deepest, depth);
    for (const child of Object.values(next.value) as Json[]) open.push({ value: child, depth });
  }
  return deepest;
}

export function checkJsonDepth(value: Json, what: string): void {
  const depth = jsonDepth(value);
  if (depth <= LIMITS.metadata_depth) return;
  throw new ForgeError(
    'invalid_input',
    `${what} is nested ${depth} levels deep; the limit is ${LIMITS.metadata_depth}`,
    {
      details: { depth, limit: LIMITS.metadata_depth },
    },
  );
}

/** Same value, same text: object keys sorted by code unit at every level. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalJson).join(',')}]`;
  const object = value as JsonObject;
  const parts = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`); // the key was just listed
  return `{${parts.join(',')}}`;
}

/** An object keyed by other people's words: it has no prototype to overwrite or to find by accident. */
export function emptyObject<V>(): Record<string, V> {
  return Object.create(null) as Record<string, V>;
}
