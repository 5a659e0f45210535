import type { TaskRecord } from './task-record.ts';

/** So often an edit of a line without stamps is told from itself. */
export const MADE_AGAIN = 35;

interface ShownLine {
  readonly seal: string;
  /** The digests of what the line shows. */
  readonly shows: string;
}

/** An edit that is made once more has a name of its own, which older programs read as that of another line. */
export function nameMade({ seal, shows }: ShownLine, times: number): string {
  return times < 2 ? `${seal}:${shows}` : `${seal}z${times.toString(36)}:${shows}`;
}

/** How often a record has taken in the same edit. */
export function countMade({ hand }: Pick<TaskRecord, 'hand'>, line: ShownLine): number {
  let times = 0;
  while (times < MADE_AGAIN && hand?.has(nameMade(line, times + 1)) === true) times += 1;
  return times;
}
