/** The candidate that a typo most likely meant: at most two slips, or three in a long word. The first of equals. */
export function findClosestWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = word.length >= 8 ? 3 : word.length >= 4 ? 2 : 1;
  for (const candidate of candidates) {
    const slips = countSlips(word.toLowerCase(), candidate, fewest);
    if (slips < fewest || (slips === fewest && best === undefined)) {
      best = candidate;
      fewest = slips;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours between two words; more than `most` is not counted out. */
function countSlips(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (beforeLast[j - 2] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? most + 1;
}
