import { ForgeError } from '#kernel/errors.ts';

/** What a reference may mean, and how what is there is found. */
const KINDS = {
  attempts: { noun: 'attempt', hint: 'forge workspace list' },
  runs: { noun: 'run', hint: 'forge runs list' },
  reviews: { noun: 'review', hint: 'forge runs list' },
  merges: { noun: 'merge', hint: 'forge runs list' },
  approvals: { noun: 'approval', hint: 'forge runs list' },
} as const;
export type WorkKind = keyof typeof KINDS;

/** How many names an ambiguous beginning is answered with. */
const SHOWN = 5;

/** So many of those that begin with a reference are enough to say what it means. */
export const ENOUGH_FOUND = SHOWN + 1;

/**
 * The row that a whole id, or an unambiguous beginning of one, means. `found`: those that begin with it, in the order of
 * their ids, ENOUGH_FOUND at most; an empty reference means nothing. Throws not_found and ambiguous_id.
 */
export function pickMeant<T extends { readonly id?: unknown }>(
  kind: WorkKind,
  ref: string,
  found: readonly T[],
): T {
  const wanted = ref.toLowerCase();
  const meant = found.find((row) => row.id === wanted) ?? (found.length === 1 ? found[0] : undefined);
  if (meant !== undefined && wanted !== '') return meant;
  const { noun, hint } = KINDS[kind];
  if (found.length === 0 || wanted === '')
    throw new ForgeError('not_found', `No ${noun} ${ref}`, { hint, details: { id: ref } });
  const candidates = found.slice(0, SHOWN).map((row) => String(row.id));
  const more = found.length > SHOWN ? ' and more' : '';
  throw new ForgeError('ambiguous_id', `"${ref}" could be ${candidates.join(', ')}${more}`, {
    hint: 'Type one more character of the id',
    details: { id: ref, candidates },
  });
}
