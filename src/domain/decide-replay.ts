/** A local replica and the database that it belongs to. */
export interface ReplayFacts {
  /** Bytes of the replica; 0 where there is none. */
  readonly size: number;
  /** Bytes of it that the database holds; undefined where that is not known. */
  readonly held: number | undefined;
  /** It is the file that the database knows. */
  readonly is_same: boolean;
  /** The database has tasks. */
  readonly has_tasks: boolean;
}

export type ReplayDecision =
  /** The two agree. */
  | { readonly outcome: 'agreed'; readonly size: number }
  /** What stands in the replica from there on is joined in. */
  | { readonly outcome: 'join'; readonly from: number }
  /** It is written anew from the database; with `joins` after all of it was joined in. */
  | { readonly outcome: 'rewrite'; readonly joins: boolean };

/**
 * A longer replica holds writes that a crash kept from the database. A shorter one was cut or removed. Another file than
 * the one that the database knows is read whole. Where the database does not know how much it holds, both happen: what
 * stands in the replica may be more than the database has, also where its size says otherwise.
 */
export function decideReplay({ size, held, is_same, has_tasks }: ReplayFacts): ReplayDecision {
  const same = size === 0 || is_same;
  // A size of 0 is that of a database without tasks: on any other the fact was changed by another program.
  const isLost = size === 0 && has_tasks;
  if (size === held && same && !isLost) return { outcome: 'agreed', size };
  if (size === 0 || held === undefined || (size < held && same))
    return { outcome: 'rewrite', joins: size > 0 };
  return { outcome: 'join', from: same ? held : 0 };
}
