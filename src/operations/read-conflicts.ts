import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '#kernel/limits.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { compareText } from '#kernel/text.ts';
import type { ConflictEntry } from '#domain/decide-settlement.ts';
import type { ConflictPlace, Replication } from '#store/replication.ts';

/** Values of all tasks that lost a merge. */
export interface LostValues {
  readonly entries: readonly ConflictEntry[];
  /** There are more than one request of a server looks for. */
  readonly isCut: boolean;
}

/** In parts with other requests served in between, and bounded for a process that `stays`. */
export async function readConflicts(
  store: Pick<Replication, 'pageConflicts'>,
  { stays }: { readonly stays: boolean },
): Promise<LostValues> {
  const bounds = { max_rows: LIMITS.answer_list_rows, max_bytes: LIMITS.answer_page_bytes };
  const most = stays
    ? { entries: SERVED_LIMITS.conflicts, bytes: SERVED_LIMITS.conflicts_bytes }
    : { entries: Infinity, bytes: Infinity };
  const entries: ConflictEntry[] = [];
  let bytes = 0;
  for (let after: ConflictPlace | undefined; ;) {
    const page = await store.pageConflicts({ after, ...bounds });
    entries.push(...page.entries);
    bytes += page.bytes;
    after = page.after;
    const isFull = entries.length > most.entries || (after !== undefined && bytes >= most.bytes);
    if (after === undefined || isFull) {
      const kept = entries.slice(0, most.entries).sort((a, b) => compareText(a.id, b.id));
      return { entries: kept, isCut: isFull };
    }
    await nextTurn();
  }
}
