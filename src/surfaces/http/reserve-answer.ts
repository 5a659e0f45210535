import type { Declaration } from '#contract/declare.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Caller } from '#access/caller.ts';
import type { AnswerBudget } from './answer-budget.ts';

/** Reserves what the answer of a read may take; nothing for one that waits for something to happen: its answer is short. */
export async function reserveAnswer(
  answers: AnswerBudget,
  { access, waits, input }: Pick<Declaration, 'access' | 'waits' | 'input'>,
  { caller, signal }: { readonly caller: Caller; readonly signal?: AbortSignal | undefined },
): Promise<Disposable | undefined> {
  if (access !== 'read' || waits === true) return undefined;
  // Rows are read before they are written, so that a list takes the most even where it is cut to a page.
  const bytes = 'limit' in input.shape ? LIMITS.answer_bytes : LIMITS.answer_page_bytes;
  return answers.reserve(caller.token, bytes, signal);
}
