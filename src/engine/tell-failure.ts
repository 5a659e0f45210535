import type { ForgeError } from '#kernel/errors.ts';

/** What went wrong and what to do next, as one text: a row that is read later has no place for a hint of its own. */
export function tellFailure({ message, hint }: ForgeError): string {
  return hint === undefined ? message : `${message}. Next: ${hint}`;
}
