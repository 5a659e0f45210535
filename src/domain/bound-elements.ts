import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { utf8Length } from '#kernel/text.ts';
import type { ElementMap, TaskRecord } from './task-record.ts';

/** What a task may have; with what was taken away, because a removed element stays as a stamp in the task's line. */
const BOUNDS = [
  { name: 'metadata', what: 'metadata keys', most: LIMITS.metadata_keys, ever: LIMITS.metadata_keys_ever },
  { name: 'labels', what: 'labels', most: LIMITS.labels_per_task, ever: LIMITS.labels_ever },
  {
    name: 'dependencies',
    what: 'dependencies',
    most: LIMITS.dependencies_per_task,
    ever: LIMITS.dependencies_ever,
  },
] as const;

/**
 * Every write of a task reads and writes all of its elements, so that one with very many would hold up everything else.
 * Only what a command adds is refused: what came with files and merges stays, and can be changed and taken away.
 * Throws invalid_input.
 */
export function checkElements(before: TaskRecord | undefined, after: TaskRecord): void {
  for (const { name, what, most, ever } of BOUNDS) {
    const was = before?.[name];
    const is = after[name];
    if (was === is || is.elements.size <= most) continue;
    const count = countPresent(is);
    if (count > most && count > countPresent(was)) {
      throw new ForgeError('invalid_input', `${after.id} would have ${count} ${what}; the limit is ${most}`, {
        hint: 'Take some away first, or spread them over several tasks',
        details: { limit: most },
      });
    }
    if (is.elements.size > ever && is.elements.size > (was?.elements.size ?? 0)) {
      throw new ForgeError(
        'invalid_input',
        `${after.id} would have had ${is.elements.size} ${what}, with those that were taken away; the limit is ${ever}`,
        { hint: 'Use one that it had before, or make a new task', details: { limit: ever } },
      );
    }
  }
}

/**
 * The same for comments, which nobody can take away again: only a command that adds one asks. Throws invalid_input.
 */
export function checkComments({ id, comments }: TaskRecord, body: string): void {
  const refuse = (what: string, limit: number): never => {
    throw new ForgeError('invalid_input', `${id} would have ${what}; the limit is ${limit}`, {
      hint: `Write it down in another task: forge task create "…" --parent ${id}`,
      details: { id, limit },
    });
  };
  if (comments.size >= LIMITS.comments_per_task)
    refuse(`${comments.size + 1} comments`, LIMITS.comments_per_task);
  let bytes = lengthInLine(body);
  for (const comment of comments.values()) bytes += lengthInLine(comment.body);
  if (bytes > LIMITS.comments_bytes)
    refuse(`${bytes} bytes of comments, as they are in its line`, LIMITS.comments_bytes);
}

/** Bytes of a text as it is in the line of its task, where a control character takes six. */
function lengthInLine(text: string): number {
  return utf8Length(JSON.stringify(text)) - 2;
}

function countPresent(map: ElementMap | undefined): number {
  let count = 0;
  for (const { value } of map?.elements.values() ?? []) if (value !== undefined) count += 1;
  return count;
}
