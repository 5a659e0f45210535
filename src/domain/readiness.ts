import type { Status, TaskType } from '#contract/task.ts';

/** What says whether a task can be started. */
export interface ReadinessFacts {
  readonly status: Status;
  /** As the record names it. */
  readonly state: string;
  readonly type: TaskType;
  readonly assignee: string | null;
  /** How many tasks it waits for that are not closed. */
  readonly open_blockers: number;
  /** Its state parks it, or it is archived. */
  readonly parked: boolean;
}

/**
 * Open, neither parked nor waiting, and nobody's, or reserved for the one who asks. SQLite says the same as conditions of
 * two indexes, because it must find a ready task among a million.
 */
export function isReady(
  { status, assignee, open_blockers, parked }: Omit<ReadinessFacts, 'state' | 'type'>,
  asker?: string | null,
): boolean {
  const isFree = assignee === null || assignee === asker;
  return status === 'open' && isFree && open_blockers === 0 && !parked;
}

/** What a list of ready tasks is asked to leave out. */
export interface ReadyFilter {
  readonly type?: TaskType | undefined;
  readonly label?: string | undefined;
  readonly exclude_types?: readonly TaskType[] | undefined;
  readonly to_hand_out?: boolean | undefined;
}

/** A type that is asked for by name is shown, whatever the config leaves out. */
export function isAskedFor(
  task: {
    readonly type: TaskType;
    readonly labels: readonly string[];
    readonly open_children: () => boolean;
  },
  { type, label, exclude_types = [], to_hand_out = false }: ReadyFilter,
): boolean {
  if (type === undefined ? exclude_types.includes(task.type) : task.type !== type) return false;
  if (label !== undefined && !task.labels.includes(label)) return false;
  // An epic is done when its children are.
  return !(to_hand_out && type !== 'epic' && task.type === 'epic' && task.open_children());
}

/** Those that a task waits for, as far as they are listed. */
export interface ListedBlockers {
  readonly blockers: readonly { readonly id: string; readonly status: Status | null }[];
  /** How many are not in the list. */
  readonly more: number;
}

/** Why a task that is not closed is or is not ready; every clause of the definition gets a sentence. */
export function explainReadiness(
  task: Omit<ReadinessFacts, 'open_blockers'>,
  query: Pick<ReadyFilter, 'type' | 'exclude_types'> & { readonly assignee?: string | null | undefined },
  listed: ListedBlockers,
): { readonly ready: boolean; readonly reasons: string[] } {
  const against = listReasonsAgainst(task, query, listed);
  if (against.length > 0) return { ready: false, reasons: against };
  const whose = task.assignee === null ? 'unassigned' : `reserved for ${task.assignee}`;
  return { ready: true, reasons: [`open, ${whose}, no open blocker`] };
}

function listReasonsAgainst(
  { status, state, type, assignee, parked }: Omit<ReadinessFacts, 'open_blockers'>,
  query: Pick<ReadyFilter, 'type' | 'exclude_types'> & { readonly assignee?: string | null | undefined },
  { blockers, more }: ListedBlockers,
): string[] {
  const reasons: string[] = [];
  if (status === 'in_progress') reasons.push(`in progress with ${assignee ?? 'nobody'}`);
  else if (assignee !== null && assignee !== query.assignee) reasons.push(`reserved for ${assignee}`);
  if (parked) reasons.push(`parked in ${state}`);
  if (query.type === undefined && query.exclude_types?.includes(type) === true)
    reasons.push(`type ${type} is left out by ready.excludeTypes`);
  for (const blocker of blockers)
    reasons.push(`waits for ${blocker.id} (${blocker.status ?? 'not in this project'})`);
  if (more > 0) reasons.push(`waits for ${more} more`);
  return reasons;
}
