import type { AlwaysRule, Approval } from '#contract/attempt.ts';
import { describeRequest } from '#domain/describe-request.ts';
import { hasPrefix } from '#domain/match-command.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import type { OperationContext } from './operation.ts';
import { describeRule, SHORT_ID } from './run-text.ts';
import { writerOf } from './writer.ts';

interface Answer {
  readonly state: 'allowed' | 'denied';
  readonly reason?: string | undefined;
  readonly always?: boolean | undefined;
  readonly prefix?: string | undefined;
}

/** The answer to what a run waits for: the one that is named, or the only one. */
export async function answerApproval(
  ctx: OperationContext,
  { id, approval }: { readonly id: string; readonly approval?: string | undefined },
  { state, reason, ...wish }: Answer,
): Promise<Approval> {
  await requirePerson(ctx);
  const { store } = ctx.project;
  const run = await store.getRun(id);
  const all = await store.listApprovals({ run_id: run.id });
  const wanted = pickOne(all, run.id, approval);
  const always = toRule(wanted, wish);
  return store.answerApproval({ id: wanted.id, state, reason, always }, await writerOf(ctx));
}

/** Throws permission_denied: what an agent may do is for a person to say, whichever name the agent goes by. */
export async function requirePerson(ctx: OperationContext): Promise<void> {
  const actor = await ctx.actor();
  if (actor.kind === 'user') return;
  throw new ForgeError('permission_denied', 'What an agent may do is for a person to say, not for an agent', {
    hint: 'Do it yourself, in a terminal of your own',
  });
}

function toFirstWords(command: string): string {
  return command.trim().split(/\s+/).slice(0, 2).join(' ');
}

/** What is allowed for the rest of the task. Throws invalid_input where that is no command, or would not allow this one. */
function toRule(
  { id, command }: Approval,
  { always, prefix }: Pick<Answer, 'always' | 'prefix'>,
): AlwaysRule | undefined {
  if (prefix === undefined && always !== true) return undefined;
  if (command === null) {
    throw new ForgeError('invalid_input', 'Only a command can be allowed for the rest of a task', {
      hint: 'Answer without --always and --prefix',
      details: { approval: id },
    });
  }
  if (prefix === undefined) return { kind: 'line', text: command };
  if (hasPrefix(command, prefix)) return { kind: 'prefix', text: prefix };
  throw new ForgeError('invalid_input', `No command of this request begins with ${JSON.stringify(prefix)}`, {
    hint: `Its first words, as they are: --prefix ${JSON.stringify(toFirstWords(command))}; or --always for the very same command`,
    details: { approval: id, command },
  });
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

export function approvalText(approval: Approval): string {
  const { state, task_id, always } = approval;
  const said = state === 'allowed' ? 'Allowed' : 'Refused';
  const lines = [`${said} for ${task_id}: ${describeRequest(approval)}`];
  if (always !== null) lines.push(`For the rest of ${task_id}: ${describeRule(approval)}`);
  return lines.map(escapeLine).join('\n');
}
