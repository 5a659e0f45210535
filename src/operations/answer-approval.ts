import type { Approval } from '#contract/attempt.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import type { OperationContext } from './operation.ts';
import { SHORT_ID, toText } from './run-text.ts';
import { writerOf } from './writer.ts';

/** The answer to what a run waits for: the one that is named, or the only one. */
export async function answerApproval(
  ctx: OperationContext,
  { id, approval }: { readonly id: string; readonly approval?: string | undefined },
  state: 'allowed' | 'denied',
): Promise<Approval> {
  const { store } = ctx.project;
  const run = await store.getRun(id);
  const all = await store.listApprovals({ run_id: run.id });
  const wanted = pickOne(all, run.id, approval);
  return store.answerApproval({ id: wanted.id, state }, await writerOf(ctx));
}

function pickOne(all: readonly Approval[], run: string, ref: string | undefined): Approval {
  const meant =
    ref === undefined
      ? all.filter(({ state }) => state === 'pending')
      : all.filter(({ id }) => id.startsWith(ref.toLowerCase()));
  const [only, ...more] = meant;
  if (only !== undefined && more.length === 0) return only;
  const hint = `forge runs show ${run.slice(0, SHORT_ID)}`;
  if (only !== undefined) {
    throw new ForgeError('ambiguous_id', `Run ${run} waits for leave ${meant.length} times: say which`, {
      hint: `forge runs approve ${run.slice(0, SHORT_ID)} --approval ${only.id.slice(0, SHORT_ID)}`,
      details: { id: run, candidates: meant.map(({ id }) => id) },
    });
  }
  if (ref !== undefined)
    throw new ForgeError('not_found', `Run ${run} did not ask for ${ref}`, { hint, details: { id: ref } });
  throw new ForgeError('state_invalid', `Run ${run} does not wait for leave`, { hint, details: { id: run } });
}

export function approvalText({ tool, input, state, task_id }: Approval): string {
  const said = state === 'allowed' ? 'Allowed' : 'Refused';
  return escapeLine(`${said} for ${task_id}: ${tool} ${toText(input)}`);
}
