import { compareText } from '#kernel/text.ts';

/** What is known of a rescue ref. Times are in ms. */
export interface KeptRescueFacts {
  readonly ref: string;
  readonly attempt_id: string;
  /** Null where its attempt was for no task, or has no row any more. */
  readonly task_id: string | null;
  /** Rises with every rescue of its attempt. */
  readonly number: number;
  /** When Forge first looked at it: git does not say when a ref was made. */
  readonly seen_at: number;
  /** When a person was shown it; null where none was yet. */
  readonly told_at: number | null;
  /** Its attempt's folder is there: the same work could be about to be rescued once more. */
  readonly folder: 'there' | 'gone';
  readonly work: 'over' | 'unfinished' | 'unknown';
}

export interface RescueBounds {
  /** Those that a person was shown before have been kept long enough; in ms. */
  readonly until: number;
  /** Those that a person was shown since stay however many there are; in ms, and not before `until`. */
  readonly shown_until: number;
  readonly number: number;
}

/**
 * Which refs go, in this order: those that are too old, and of those that are too many the ones that a person was shown
 * first. What no person was shown, or only of late, stays, however many there are, and so does the newest of each task.
 */
export function decideKeptRescues(all: readonly KeptRescueFacts[], bounds: RescueBounds): KeptRescueFacts[] {
  const newest = new Set(
    [...Map.groupBy(all, ({ task_id, attempt_id }) => task_id ?? attempt_id).values()].map((of) =>
      of.toSorted(byAge).at(-1),
    ),
  );
  let surplus = all.length - bounds.number;
  const goes: KeptRescueFacts[] = [];
  for (const one of all.toSorted(byTelling)) {
    const isFree = one.folder === 'gone' && one.work === 'over' && !newest.has(one);
    if (one.told_at === null || one.told_at >= bounds.shown_until || !isFree) continue;
    if (one.told_at >= bounds.until && surplus <= 0) continue;
    goes.push(one);
    surplus -= 1;
  }
  return goes;
}

function byAge(a: KeptRescueFacts, b: KeptRescueFacts): number {
  return a.seen_at - b.seen_at || a.number - b.number || compareText(a.ref, b.ref);
}

function byTelling(a: KeptRescueFacts, b: KeptRescueFacts): number {
  return (a.told_at ?? Infinity) - (b.told_at ?? Infinity) || byAge(a, b);
}
