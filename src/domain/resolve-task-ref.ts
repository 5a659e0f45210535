import { ForgeError } from '#kernel/errors.ts';

/** How many names an ambiguous beginning is answered with. */
const SHOWN = 6;

/** The ids of one kind that a store holds, in the order of their characters. */
export interface IdIndex {
  has(id: string): boolean;
  /** The first `most` that begin so. */
  listBeginning(beginning: string, most: number): string[];
  /** The first behind this text. */
  findNext(after: string): string | undefined;
}

export interface KnownIds {
  readonly tasks: IdIndex;
  readonly deleted: IdIndex;
  /** The first `most` tasks whose former ids hold this word, ASCII letters of either case. Asked last: it reads every task with metadata. */
  listFormer(word: string, most: number): string[];
  /** Which of these are tasks, the first `most`. */
  listKnown(ids: ReadonlySet<string>, most: number): string[];
}

/** What a reference to a task may be looked for among. */
export type IdKind = 'tasks' | 'deleted';

/**
 * A full id, or any unambiguous beginning of one, with or without the project's prefix. An exact id always
 * means itself, also when longer ids begin with it. Throws not_found and ambiguous_id.
 */
export function resolveTaskRef(ids: KnownIds, ref: string, kind: IdKind = 'tasks'): string {
  const wanted = ref.toLowerCase();
  const index = ids[kind];
  if (index.has(wanted)) return wanted;
  const found = /^[a-z0-9]+(-[a-z0-9]*)?$/.test(wanted) ? findByBeginning(index, wanted) : [];
  // Typed without its prefix, a whole id means itself as well: there is no character to add.
  const [whole, ...otherWhole] = found.filter((id) => id.endsWith(`-${wanted}`));
  if (whole !== undefined && otherWhole.length === 0) return whole;
  // A former id is a whole id too: `1` of an imported task is not the beginning of another one.
  const [former, ...otherFormer] = kind === 'tasks' && wanted !== '' ? ids.listFormer(wanted, SHOWN) : [];
  if (former !== undefined && otherFormer.length === 0) return former;
  if (former !== undefined) {
    const candidates = [former, ...otherFormer];
    throw new ForgeError('ambiguous_id', `"${ref}" is the former id of ${candidates.join(', ')}`, {
      details: { id: ref, candidates },
    });
  }
  const [first, ...more] = found;
  if (first !== undefined && more.length === 0) return first;
  if (first !== undefined) throw manyBegin(ref, found);
  throw kind === 'deleted'
    ? new ForgeError('not_found', `No deleted task ${ref}`, { details: { id: ref } })
    : explainMissing(ids, ref, wanted);
}

function manyBegin(ref: string, found: readonly string[]): ForgeError {
  const candidates = found.slice(0, SHOWN - 1);
  const more = found.length >= SHOWN ? ' and more' : '';
  return new ForgeError('ambiguous_id', `"${ref}" could be ${candidates.join(', ')}${more}`, {
    hint: 'Type one more character of the id',
    details: { id: ref, candidates },
  });
}

function explainMissing(ids: KnownIds, ref: string, wanted: string): ForgeError {
  const deleted = findDeleted(ids.deleted, wanted);
  if (deleted !== undefined)
    return new ForgeError('not_found', `Task ${deleted} was deleted`, {
      hint: `forge task restore ${deleted}`,
      details: { id: deleted },
    });
  const near = findNearIds(ids, wanted);
  const [nearest] = near;
  if (nearest === undefined)
    return new ForgeError('not_found', `No task ${ref}`, { hint: 'forge task list', details: { id: ref } });
  return new ForgeError('not_found', `No task ${ref}; did you mean ${near.join(' or ')}?`, {
    hint: `forge task show ${nearest}`,
    details: { id: ref, candidates: near },
  });
}

/** By its whole id, with or without the prefix. */
function findDeleted(deleted: IdIndex, wanted: string): string | undefined {
  if (deleted.has(wanted)) return wanted;
  if (!/^[a-z0-9]+$/.test(wanted)) return undefined;
  const whole = findByBeginning(deleted, wanted).filter((id) => id.endsWith(`-${wanted}`));
  return whole.length === 1 ? whole[0] : undefined;
}

function findByBeginning(index: IdIndex, wanted: string): string[] {
  if (wanted.includes('-')) return index.listBeginning(wanted, SHOWN);
  // Without a hyphen it is the part after the prefix. Prefixes are few: step from one to the next.
  const found: string[] = [];
  for (let after = ''; found.length < SHOWN;) {
    const next = index.findNext(after);
    if (next === undefined) break;
    const prefix = next.slice(0, next.indexOf('-') + 1);
    found.push(...index.listBeginning(`${prefix}${wanted}`, SHOWN));
    after = `${prefix}\u{10ffff}`;
  }
  return found.slice(0, SHOWN);
}

/** Longer ones are no typing error of one character that a person would see. */
const LONGEST_NEAR = 16;
const NEAR_SHOWN = 3;

/**
 * The ids that are one slip away: a character replaced, left out, added, or two neighbours swapped. A thousand spellings
 * at most, whatever the number of tasks.
 */
function findNearIds(ids: KnownIds, wanted: string): string[] {
  if (!/^[a-z0-9]+-[a-z0-9]+$/.test(wanted) || wanted.length > LONGEST_NEAR) return [];
  return ids.listKnown(listSlips(wanted), NEAR_SHOWN);
}

const ID_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz';

function listSlips(word: string): ReadonlySet<string> {
  const slips = new Set<string>();
  for (let at = 0; at <= word.length; at += 1) {
    const [before, one, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    for (const character of ID_CHARACTERS) {
      slips.add(before + character + one + after);
      if (one !== '' && one !== '-') slips.add(before + character + after);
    }
    slips.add(before + after);
    if (after !== '') slips.add(before + after.charAt(0) + one + after.slice(1));
  }
  return slips;
}

/** Where a task's metadata has the ids that it had in the tool it was imported from. */
export const FORMER_ID_KEYS = ['beads_id', 'backlog_md_id', 'task_master_id'] as const;
