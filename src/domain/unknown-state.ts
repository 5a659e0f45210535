import { findClosestWord } from '#kernel/closest-word.ts';
import { ForgeError, type ErrorCode } from '#kernel/errors.ts';
import type { ResolvedWorkflow } from './workflow.ts';

interface Asked {
  readonly code?: ErrorCode;
  /** The command with the state that was most likely meant. */
  readonly toCommand?: (state: string) => string;
}

/** A word that is no state of the workflow: the state that was most likely meant, or all states that there are. */
export function unknownState(
  { states }: Pick<ResolvedWorkflow, 'states'>,
  word: string,
  { code = 'invalid_input', toCommand }: Asked = {},
): ForgeError {
  const known = [...states.keys()];
  const closest = findClosestWord(word, known);
  const told = closest === undefined ? `it has ${known.join(', ')}` : `did you mean ${closest}?`;
  const command = closest === undefined ? undefined : toCommand?.(closest);
  return new ForgeError(code, `The workflow has no state ${word}; ${told}`, {
    hint: command ?? 'forge workflow show',
    details: { state: word, states: known },
  });
}
