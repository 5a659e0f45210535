import { keepUnsealed, type Fold } from './fold-records.ts';
import { readShownState } from './shown-base.ts';
import { isUnsealed, missingMany, NEVER_SHOWN } from './shown-facts.ts';
import type { FoldRows } from './fold-rows.ts';

/** Of so many tasks it is kept what the file showed; of more it counts as not known. */
export const MISSING_KEPT = 1_000;

/**
 * Before a file is marked as read: what it showed last of the tasks that it does not have just now. Their lines may come
 * back, as those of a script that writes the file slowly, or of `git stash pop`, and then only what differs was written.
 */
export function keepMissing(fold: Fold, present: ReadonlySet<string>): void {
  const { rows, path, digests, edited } = fold;
  // What is imported once, and other versions of the file, are not written in place.
  if (/^(?:import|git):/.test(path)) return;
  const missing = [...digests.keys()].filter((id) => !present.has(id));
  const isMany = missing.length > MISSING_KEPT;
  const kept = listKept(rows, path);
  for (const id of missing) {
    const seal = kept.get(id);
    if (seal !== undefined) edited.add(`${id} ${seal}`);
    else if (!isMany) keepState(fold, id);
  }
  rows.writeFact(missingMany(path), isMany ? 1 : 0);
}

function keepState(fold: Fold, id: string): void {
  const { rows, path, edited } = fold;
  const known = rows.readKnown(id)?.record;
  const state = known && readShownState(fold, known);
  if (state !== undefined) return keepUnsealed(fold, id, state);
  rows.writeShown({ path, task_id: id, seal: NEVER_SHOWN, digests: '' }, { outlives: false });
  edited.add(`${id} ${NEVER_SHOWN}`);
}

/** What is known of lines from the last look; nothing where Forge wrote the file since. */
function listKept(rows: FoldRows, path: string): Map<string, string> {
  if (rows.readMark(path)?.event_seq !== null) return new Map();
  const unsealed = rows.listShownOf(path).filter(({ seal }) => isUnsealed(seal));
  return new Map(unsealed.map(({ task_id, seal }) => [task_id, seal]));
}
