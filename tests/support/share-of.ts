/** Set by the soak, where each row of each table is run. */
const WHOLE = 'FORGE_WHOLE_TABLES';

/**
 * Of a wide table whose rows start many processes, every `step`th in `npm test` and all in the soak. A step that has no
 * divisor in common with the table's dimensions meets each of their values.
 */
export function shareOf<T>(rows: readonly T[], step: number): readonly T[] {
  return process.env[WHOLE] === '1' ? rows : rows.filter((_, at) => at % step === 0);
}

/** Each of the first with each of the second, as a table. */
export function combine<A, B>(first: readonly A[], second: readonly B[]): readonly (readonly [A, B])[] {
  return first.flatMap((one) => second.map((other) => [one, other] as const));
}
