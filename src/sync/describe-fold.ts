import { countNoun, escapeLine } from '#kernel/text.ts';
import type { FoldedFiles } from './fold-files.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/** What somebody should know of a fold: one line each, nothing where all went as it should. */
export function describeFold({ tasks, history }: FoldedFiles): string[] {
  const lines: string[] = [];
  for (const { from, to } of tasks?.renamed ?? []) {
    lines.push(`Two tasks were both called ${from}; the one made here is ${to} now`);
  }
  for (const { id, was, now } of tasks?.lost_claims ?? []) {
    lines.push(`${escapeLine(was)} lost the claim of ${id}: ${escapeLine(now)} had it first`);
  }
  const conflicts = tasks?.conflicts ?? [];
  if (conflicts.length > 0) {
    lines.push(
      `${countNoun(conflicts.length, 'value')} lost against a change made elsewhere; see: forge conflicts`,
    );
  }
  lines.push(...describeKeptIdentities(tasks?.kept_identities ?? []));
  for (const id of tasks?.edited_deleted ?? []) {
    lines.push(`${id} was deleted elsewhere and changed here; to have it back: forge task restore ${id}`);
  }
  lines.push(...describeUnreadable(TASKS_PATH, tasks?.unreadable ?? [], tasks?.unreadable_more));
  lines.push(...describeUnreadable(HISTORY_PATH, history?.unreadable ?? [], history?.unreadable_more));
  return lines;
}

/** Nothing where there are none. */
export function describeKeptIdentities(ids: readonly string[]): string[] {
  const [first] = ids;
  if (first === undefined) return [];
  const which = ids.length === 1 ? first : `${ids.length} tasks (${first} and others)`;
  return [
    `created_by or created_at of ${which} was edited by hand: they say which task it is, so the old values stand; to write them back: forge export`,
  ];
}

/** Nothing where every line can be read. `number` is 0 where it is not known which line it is. */
export function describeUnreadable(
  path: string,
  unreadable: readonly { readonly number: number; readonly why: string }[],
  more = 0,
): string[] {
  const [first] = unreadable;
  if (first === undefined) return [];
  const where = first.number === 0 ? '' : ` (line ${first.number}: ${escapeLine(first.why)})`;
  const kept =
    more === 0
      ? 'kept as it is'
      : `the first ${unreadable.length} are kept when the file is written; a copy of the whole file is kept; see: forge doctor`;
  return [`${path} has ${countNoun(unreadable.length + more, 'line')} that cannot be read${where}; ${kept}`];
}
