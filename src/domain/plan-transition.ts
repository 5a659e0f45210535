import type { Task } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { countNoun, firstAndLast } from '#kernel/text.ts';
import { doesOnEnter } from './decide-review.ts';
import type { Deciding } from './task-plan.ts';
import { kindOf, standingState, type ResolvedWorkflow } from './workflow.ts';

/** Why a task waits for a person. */
export interface Annotation {
  readonly code: string;
  readonly message: string;
}

export interface AskedTransition {
  readonly to: string;
  readonly reason: string | null;
  /** Why it waits for a person now. */
  readonly annotation?: Annotation | undefined;
  /** It follows on the word of a person, so that a no spends no budget. */
  readonly by_person?: boolean | undefined;
}

export interface TransitionFacts {
  readonly task: Pick<Task, 'status' | 'state' | 'error_annotation' | 'review_passed_at'>;
  /** How often each gate said no since a person last granted a budget. */
  readonly rejections: ReadonlyMap<string, number>;
}

export interface TransitionPlan {
  readonly from: string;
  /** Where the task goes: a gate that has said no too often sends it to a person instead. */
  readonly to: string;
  /** A gate's no, said by an agent or by Forge. What people do and say is free. */
  readonly rejection: boolean;
  readonly workflow_fields: ReadonlyMap<string, Json>;
}

/** What a transition that was asked for becomes, for the version of the task that it is planned by. */
export function planTransition(
  { task, rejections }: TransitionFacts,
  asked: AskedTransition,
  { actor, now, workflow }: Deciding,
): TransitionPlan {
  const from = standingState(workflow, task);
  const isPersons = actor.kind === 'user' || asked.by_person === true;
  const rejection =
    kindOf(workflow, from) === 'gate' && kindOf(workflow, asked.to) === 'active' && !isPersons;
  const said = (rejections.get(from) ?? 0) + 1;
  const spent = rejection ? findSpentBudget(workflow, from, { said, last: asked.reason }) : undefined;
  const to = spent?.to ?? asked.to;
  const annotation = spent?.annotation ?? asked.annotation;
  return { from, to, rejection, workflow_fields: toFields({ task, to, annotation }, { now, workflow }) };
}

/** Where a gate sends a task that it has said no to too often; undefined where it has not, or where there is no such place. */
export function findSpentBudget(
  workflow: ResolvedWorkflow,
  gate: string,
  {
    said,
    last = null,
  }: { readonly said: number; /** Why it said no the last time. */ readonly last?: string | null },
): { readonly to: string; readonly annotation: Annotation } | undefined {
  const max = workflow.states.get(gate)?.gate_config?.max_rejections;
  if (max === undefined || workflow.blocked === undefined || said <= max) return undefined;
  const line = firstAndLast(last ?? '');
  const why = line === '' ? '' : `. The last time: ${line.slice(0, LIMITS.inbox_message_length)}`;
  const message = `${gate} said no ${countNoun(said, 'time')}; ${max} ${max === 1 ? 'is' : 'are'} allowed${why}`;
  return { to: workflow.blocked, annotation: { code: 'retry_budget', message } };
}

/**
 * Why a task waits stands on it until it is moved on. That it passed an earlier review is forgotten in the same
 * write that brings it to the next one: a process that is killed in between leaves no gate open.
 */
function toFields(
  {
    task,
    to,
    annotation,
  }: Pick<TransitionFacts, 'task'> & { readonly to: string; readonly annotation: Annotation | undefined },
  { now, workflow }: Pick<Deciding, 'now' | 'workflow'>,
): ReadonlyMap<string, Json> {
  const fields = new Map<string, Json>();
  if (annotation !== undefined) {
    const { code, message } = annotation;
    fields.set('error_annotation', { code, message, at: toIso(now) });
  } else if (task.error_annotation !== undefined) fields.set('error_annotation', null);
  if (task.review_passed_at !== undefined && doesOnEnter(workflow, to, 'run_ci_steps'))
    fields.set('review_passed_at', null);
  return fields;
}
