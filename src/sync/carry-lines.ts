import type { HeldInFiles } from './fold-files.ts';
import { idOfLine } from './trace-lines.ts';
import type { WriteLine } from './write-lines.ts';

/** Lines of the files that the store does not have, and that are written again as they are. */
export interface CarriedLines {
  readonly tasks: readonly string[];
  readonly history: readonly string[];
  readonly isTaken: HeldInFiles['isTaken'];
}

export const NOTHING_CARRIED: CarriedLines = { tasks: [], history: [], isTaken: () => false };

/**
 * Takes the lines of an export, and writes the carried ones among them: before the line of the same task, in the order
 * of the ids. A line that `isTaken` is left out where its task has carried lines: the branch that they wait for has it.
 */
export function carryLines(
  carried: readonly string[],
  {
    write,
    isTaken,
    isWritten,
  }: {
    readonly write: WriteLine;
    readonly isTaken: (text: string) => boolean;
    /** Whether a carried line stands in the new file already. */
    readonly isWritten: (text: string) => boolean;
  },
): { readonly write: WriteLine; readonly end: () => void } {
  const waiting = carried.map((text) => ({ text, owner: ownerOf(text) })).sort(compareOwners);
  const own = new Set(carried);
  const owners = new Set(waiting.map(({ owner }) => owner));
  let next = 0;
  const writeUpTo = (owner: string | undefined): void => {
    for (let one = waiting[next]; one !== undefined; one = waiting[next]) {
      if (owner !== undefined && (one.owner === undefined || one.owner > owner)) return;
      if (!isWritten(one.text)) write(one.text);
      next += 1;
    }
  };
  return {
    write(line) {
      const owner = typeof line === 'string' ? ownerOf(line) : undefined;
      writeUpTo(owner);
      if (typeof line !== 'string') write(line);
      else if (!own.has(line) && !(owners.has(owner) && isTaken(line))) write(line);
    },
    end: () => writeUpTo(undefined),
  };
}

/** Lines of no task come last, in their order. */
function compareOwners(
  a: { readonly owner: string | undefined },
  b: { readonly owner: string | undefined },
): number {
  if (a.owner === b.owner) return 0;
  if (a.owner === undefined) return 1;
  return b.owner === undefined || a.owner < b.owner ? -1 : 1;
}

function ownerOf(text: string): string | undefined {
  return /^\{"task":"([^"\\]+)"/.exec(text)?.[1] ?? idOfLine(text);
}
