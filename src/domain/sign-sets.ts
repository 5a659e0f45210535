/** A set of ASCII characters, by their codes: 1 for those that belong to it. */
export type SignSet = Readonly<Uint8Array>;

/** The characters that a pattern for one of them takes. */
export function toSignSet(pattern: RegExp): SignSet {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/**
 * The place behind the characters of the set that stand at `at`. In place of an unbounded repetition in a pattern, for
 * which V8 notes every step: for a line of 6 MiB it has no memory, and throws.
 */
export function skipSigns(text: string, at: number, set: SignSet): number {
  let end = at;
  while (end < text.length && set[text.charCodeAt(end)] === 1) end += 1;
  return end;
}
