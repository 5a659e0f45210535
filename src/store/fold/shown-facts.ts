/** In the place of a seal: the file was looked at without a line of the task, and none is known from before. */
export const NEVER_SHOWN = '-';

/** The fact that is 1 where a file lacked so many tasks at the last look that they are not kept one by one. */
export function missingMany(path: string): string {
  return `missing_many ${path}`;
}

/** The fact that says what the newest event was when a file was read that did not hold all that the store did. */
export function foldedAt(path: string): string {
  return `folded_seq ${path}`;
}

/** Whether it is no seal of a line: the line has none, or was never there. */
export function isUnsealed(seal: string): boolean {
  return seal.startsWith('~') || seal === NEVER_SHOWN;
}
