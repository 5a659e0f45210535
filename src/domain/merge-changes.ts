import { readJson } from '#kernel/read-json.ts';
import { isSealed } from './record-seal.ts';

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
        changes.add(`-${line}`).add(`+${brought}`);
      }
    }
  }
  return [...changes];
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
