import { canonicalJson, type Json } from '#kernel/json.ts';

export function sameJson(a: Json, b: Json): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}

/** Of two elements' values; undefined is an absent one. */
export function sameElement(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameJson(a, b);
}
