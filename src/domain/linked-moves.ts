/** A move of a task, as the log has it; `at` is the stamp of the status that it led to. */
export interface LoggedMove {
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Whether one move can have been made upon another: each of the moves from the one to the other began in the state where
 * one before it ended. Undefined where the log does not have both. The log of two branches has the moves of both, so that
 * a move that was made without knowledge of another is found by what it began with, also where a merge, a rebase or a
 * squash has put one upon the other since.
 */
export function areLinked(
  moves: readonly LoggedMove[],
  { first, last }: { readonly first: number; readonly last: number },
): boolean | undefined {
  const between = moves.filter(({ at }) => at >= first && at <= last).toSorted((a, b) => a.at - b.at);
  if (between[0]?.at !== first || between.at(-1)?.at !== last) return undefined;
  // States that are reached from the first move.
  const reached = new Set<string>();
  let isLinked = false;
  for (const { at, from, to } of between) {
    isLinked = at === first || reached.has(from);
    if (isLinked) reached.add(to);
  }
  return isLinked;
}
