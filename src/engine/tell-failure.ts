import type { ForgeError } from '#kernel/errors.ts';
import { endSentence } from '#kernel/text.ts';

/** What went wrong and what to do next, as one text: a row that is read later has no place for a hint of its own. */
export function tellFailure({ message, hint }: ForgeError): string {
  return hint === undefined ? message : `${endSentence(message)} Next: ${hint}`;
}
