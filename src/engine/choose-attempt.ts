import { join } from 'node:path';
import { Choice, type Attempt, type Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { composeChoice, type ShownAttempt } from '#domain/compose-prompt.ts';
import { isAgentFault } from '#domain/decide-suspension.ts';
import { startCheckout } from '#git/attempt-checkout.ts';
import { showAllDiffs } from '#git/attempt-git-folder.ts';
import { readPatch } from '#git/list-changes.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import { LIMITS } from '#kernel/limits.ts';
import { openControl } from './attempt-workspace.ts';
import { endRun } from './end-run.ts';
import { findWorkBase } from './find-work-base.ts';
import { runAgent, toAgentEnvironment, type AgentEnd } from './run-agent.ts';
import type { ManagedAgent, WorkPlace } from './work.ts';

/** What the reviewer has to answer, as JSON. */
const CHOICE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['attempt', 'why'],
  properties: { attempt: { type: 'integer' }, why: { type: 'string' } },
} as const;

export interface ChoiceCall {
  readonly task: Task;
  /** Those to choose from, at least two. */
  readonly attempts: readonly Attempt[];
  /** Of the first of them. */
  readonly run: Run;
  readonly agent: ManagedAgent;
}

export type Chosen =
  | { readonly outcome: 'chosen'; readonly attempt: Attempt; readonly why: string }
  /** `again`: the reviewer could work, and may do better another time. */
  | { readonly outcome: 'none'; readonly message: string; readonly again: boolean };

/** The reviewer sees all diffs, in a folder with what they began with that is thrown away, and names one of them. */
export async function chooseAttempt(place: WorkPlace, call: ChoiceCall): Promise<Chosen> {
  const { task, attempts, run, agent } = call;
  const [first] = attempts;
  if (first === undefined)
    return { outcome: 'none', message: 'There is nothing to choose from', again: false };
  const control = await openControl(place);
  const name = `${first.name}-pick-${run.id.slice(0, 8)}`;
  const checkout = await startCheckout(control, {
    attempt_id: run.id,
    name,
    root: place.root,
    path: join(place.root, name),
    base: first.base_commit,
    facts: { project: place.project.root, task: task.id, attempt: first.id },
    is_throwaway: true,
  });
  try {
    showAllDiffs(control, checkout);
    const end = await runAgent(place, {
      run,
      attempt: first,
      agent,
      cwd: checkout.path,
      prompt: composeChoice({
        task,
        attempts: await showAttempts(place, attempts),
        prompt: task.review_config?.review_prompt ?? agent.prompt,
      }),
      resume: false,
      read_only: true,
      output_schema: CHOICE_SCHEMA,
      env: toAgentEnvironment(place, { attempt: first, agent, run }),
    });
    return await conclude(place, call, end);
  } finally {
    await removeCheckout(control, checkout);
  }
}

async function showAttempts(place: WorkPlace, attempts: readonly Attempt[]): Promise<ShownAttempt[]> {
  const most = Math.floor(LIMITS.pick_diff_length / attempts.length);
  return Promise.all(
    attempts.map(async (attempt) => {
      const { number, agent, base_commit, head_commit } = attempt;
      const base = await findWorkBase(place.repo, attempt);
      const head = head_commit ?? base_commit;
      return { number, agent, base, head, patch: await readPatch(place.repo, { base, head }, most) };
    }),
  );
}

async function conclude(place: WorkPlace, { attempts, run }: ChoiceCall, end: AgentEnd): Promise<Chosen> {
  const chosen = readChoice(attempts, end);
  const outcome =
    chosen.outcome === 'chosen' ? 'completed' : end.outcome === 'completed' ? 'failed' : end.outcome;
  const message = chosen.outcome === 'chosen' ? chosen.why : chosen.message;
  await endRun(place, run, end, { outcome, message, retry_after: end.retry_after ?? null });
  return chosen;
}

function readChoice(attempts: readonly Attempt[], end: AgentEnd): Chosen {
  if (end.outcome !== 'completed') {
    const isFinal = end.outcome === 'stopped' || end.outcome === 'cap_reached';
    const again = !isAgentFault(end.outcome) && !isFinal;
    return { outcome: 'none', message: end.message ?? end.outcome, again };
  }
  const parsed = Choice.safeParse(end.structured);
  if (!parsed.success)
    return { outcome: 'none', message: 'It gave no choice in the form it was asked for', again: true };
  const attempt = attempts.find(({ number }) => number === parsed.data.attempt);
  return attempt === undefined
    ? {
        outcome: 'none',
        message: `It chose attempt ${parsed.data.attempt}, which is none of them`,
        again: true,
      }
    : { outcome: 'chosen', attempt, why: parsed.data.why };
}
