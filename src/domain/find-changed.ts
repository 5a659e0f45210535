/** What travels in files of its own. */
export type FilePart = 'tasks' | 'history';

/** With more of them a whole export is as fast. */
export const MOST_CHANGES = 1_000;

/** An event, as far as it says what it changed. */
export interface ToldChange {
  /** Null where it is about no single task. */
  readonly task_id: string | null;
  readonly triggered_by: string;
  /** Of what is about no single task: which parts it changed, where it says so. */
  readonly changed?: unknown;
}

/**
 * The tasks whose lines may have changed since an event. `told`: the events after it, MOST_CHANGES and one at most;
 * `oldest`: the first that was not forgotten. Undefined where there are too many, where some were forgotten, or where an
 * event does not name what it changed.
 */
export function findChanged(
  told: readonly ToldChange[],
  { since, oldest, part }: { readonly since: number; readonly oldest: number; readonly part: FilePart },
): ReadonlySet<string> | undefined {
  if (told.length > MOST_CHANGES || since + 1 < oldest) return undefined;
  const ids = new Set<string>();
  for (const { task_id, triggered_by, changed } of told) {
    // A replay may bring moves that have no event of their own.
    if (triggered_by === 'system:replay') return undefined;
    if (task_id !== null) ids.add(task_id);
    else if (!isAboutOther(changed, part)) return undefined;
  }
  return ids;
}

function isAboutOther(changed: unknown, part: FilePart): boolean {
  return Array.isArray(changed) && changed.length > 0 && changed.every((one) => one !== part && isPart(one));
}

function isPart(one: unknown): one is FilePart {
  return one === 'tasks' || one === 'history';
}
