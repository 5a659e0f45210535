import { readJson } from '#kernel/read-json.ts';
import { digestRecord, listChangedValues, readDigests, type KnownDigests } from './record-digests.ts';
import { isSealed } from './record-seal.ts';
import { tryReadRecord } from './try-read-record.ts';

/** The lines of a file in a merge, in each of its parents, and where the parents parted. */
export interface MergedLines {
  readonly result: ReadonlySet<string>;
  readonly parents: readonly ReadonlySet<string>[];
  readonly bases: readonly ReadonlySet<string>[];
}

/**
 * What a merge itself says of lines, in the form of a commit's changes. Git takes the side that changed a line, and says
 * nothing by that; where both did, or where the line is of neither side, a person chose with both before their eyes.
 * `keyOf` tells which lines are of the same task.
 */
export function listMergeChanges(
  { result, parents, bases }: MergedLines,
  keyOf: (line: string) => string | undefined,
): string[] {
  const changes = new Set<string>();
  const began = indexBy(
    bases.flatMap((base) => [...base]),
    keyOf,
  );
  for (const parent of parents) {
    const added = indexBy(
      [...result].filter((line) => !parent.has(line)),
      keyOf,
    );
    for (const line of parent) {
      if (result.has(line)) continue;
      const isUntouched = bases.some((base) => base.has(line));
      for (const brought of added.get(keyOf(line)) ?? []) {
        const isTaken = parents.some((other) => other.has(brought));
        // Neither what git does by itself, nor a line that a conflict of its neighbours swept away, was said by a person.
        if (isTaken && (isUntouched || bases.some((base) => base.has(brought)))) continue;
        if (isTaken && began.get(keyOf(line))?.some((base) => isApart(base, line, brought)) === true)
          continue;
        changes.add(`-${line}`).add(`+${brought}`);
      }
    }
  }
  return [...changes];
}

/**
 * Whether a line without stamps that was taken whole differs from where the sides parted in other values than the line it
 * replaced, or in none: then the person who took it had no value to choose, and what the other side wrote was swept away.
 */
function isApart(base: string, replaced: string, taken: string): boolean {
  if (taken.includes('"_v"')) return false;
  const [before, theirs, ours] = [base, replaced, taken].map(readShownDigests);
  if (before === undefined || theirs === undefined || ours === undefined) return false;
  const changed = listChangedValues(before, theirs);
  return listChangedValues(before, ours).every((name) => !changed.includes(name));
}

function readShownDigests(line: string): KnownDigests | undefined {
  const record = tryReadRecord(line);
  return record === undefined ? undefined : readDigests(digestRecord(record));
}

/**
 * Which lines of a merge's parents may say something that the merge dropped. Lines as Forge wrote them do: who settles a
 * conflict does not see what their stamps hold. Of lines that were edited by hand the merge has decided: git takes the
 * side that changed, and where both did, a person chose. Only a line that Forge wrote in their place may not know of them.
 */
export function findUndecided(
  { result, parents, bases }: MergedLines,
  keyOf: (line: string) => string | undefined,
): (line: string) => boolean {
  const merged = indexBy([...result], keyOf);
  return (text) => {
    const there = isSealed(text) ? undefined : merged.get(keyOf(text));
    if (there === undefined) return true;
    // The side that had changed nothing: such a line is one that stood beside a conflict, and no choice.
    const isUntouched = (one: string): boolean =>
      [bases, parents].every((versions) => versions.some((version) => version.has(one)));
    const isDecided = there.some(
      (one) => (!isSealed(one) || sealOf(one) === sealOf(text)) && !isUntouched(one),
    );
    return !isDecided && !bases.some((base) => base.has(text));
  };
}

/** Which line of Forge's it was; none of one without stamps. */
function sealOf(text: string): string | undefined {
  try {
    const { _v } = readJson(text) as { readonly _v?: { readonly _v?: string } };
    return _v?._v;
  } catch {
    return undefined;
  }
}

function indexBy(
  lines: readonly string[],
  keyOf: (line: string) => string | undefined,
): Map<string | undefined, string[]> {
  const found = new Map<string | undefined, string[]>();
  for (const line of lines) found.set(keyOf(line), [...(found.get(keyOf(line)) ?? []), line]);
  found.delete(undefined);
  return found;
}
