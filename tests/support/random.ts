/** A small generator of numbers that gives the same ones for the same seed, on every machine. */
export interface Random {
  below(limit: number): number;
  /** True about once in `times`. */
  oneIn(times: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Mulberry32: two multiplications a number, because a soak draws some hundred million of them. */
export function seededRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b9);
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T, // never called with an empty list
  };
}
