/** Set by the soak, where each row of each table is run. */
const WHOLE = 'FORGE_WHOLE_TABLES';

/**
 * Of a wide table whose rows start many processes, every `step`th in `npm test` and all in the soak. A step that has no
 * divisor in common with the table's dimensions meets each of their values.
 */
export function shareOf<const T>(rows: readonly T[], step: number): readonly T[] {
  return isWhole() ? rows : rows.filter((_, at) => at % step === 0);
}

/**
 * Around stories that differ only in a detail from others that `npm test` tells. Outside of the soak they are not
 * registered at all, so that none is shown as skipped.
 */
export function inSoak(tell: () => void): void {
  if (isWhole()) tell();
}

/** Whether a test file, by its text, has anything that the soak alone runs. */
export function leavesToSoak(text: string): boolean {
  return /\b(?:shareOf|inSoak)\(/.test(text);
}

function isWhole(): boolean {
  return process.env[WHOLE] === '1';
}

/** Each of the first with each of the second, as a table. */
export function combine<A, B>(first: readonly A[], second: readonly B[]): readonly (readonly [A, B])[] {
  return first.flatMap((one) => second.map((other) => [one, other] as const));
}
