import type { Attempt, Finding, Review, StepResult, Verdict } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { nameFiles } from '#kernel/name-files.ts';
import type { Actor } from './actor.ts';
import { roleOf, type ActionName, type ResolvedWorkflow } from './workflow.ts';

/** Who has the role of a gate. A managed agent is started by Forge; an external one and a person say their word. */
export type GateHolder =
  | { readonly kind: 'none' }
  | { readonly kind: 'managed'; readonly name: string }
  | { readonly kind: 'external'; readonly name: string }
  | { readonly kind: 'person'; readonly name: string }
  /** Any person: the work changes these files, by which work is judged. */
  | { readonly kind: 'people'; readonly files: readonly string[] }
  /** Any person: the agent that holds the gate has failed to judge it, or the project's settings keep it from being judged. */
  | { readonly kind: 'unable'; readonly code: 'auditor' | 'setup_missing'; readonly why: string };

export function findGateHolder(
  workflow: ResolvedWorkflow,
  task: Pick<Task, 'roles'>,
  { gate, isManaged }: { readonly gate: string; readonly isManaged: (agent: string) => boolean },
): GateHolder {
  const holder = task.roles?.[roleOf(workflow, gate) ?? ''];
  if (holder === undefined) return { kind: 'none' };
  if ('user' in holder) return { kind: 'person', name: holder.user };
  return { kind: isManaged(holder.agent) ? 'managed' : 'external', name: holder.agent };
}

/** Nobody judges work of their own: an agent of ours that holds the gate of its own work waits for a person's word. */
export function withoutOwnAudit(holder: GateHolder, workers: readonly (string | null)[]): GateHolder {
  const isOwn = holder.kind === 'managed' && workers.includes(holder.name);
  return isOwn ? { kind: 'external', name: holder.name } : holder;
}

/** Work that changes what judges work is for a person to pass, also where an agent holds the gate. */
export function askPeople(holder: GateHolder, files: readonly string[]): GateHolder {
  return files.length === 0 || holder.kind === 'person' ? holder : { kind: 'people', files };
}

/** An auditor that gives no verdict keeps no work waiting for ever. */
export function withoutSpentAudits(holder: GateHolder, why: string | undefined): GateHolder {
  return why === undefined || holder.kind !== 'managed' ? holder : { kind: 'unable', code: 'auditor', why };
}

/** A check that cannot be run as the project is set says nothing about the work: a person sets it right. */
export function withSetupMissing(holder: GateHolder, steps: readonly StepResult[]): GateHolder {
  const step = steps.find(({ outcome }) => outcome === 'setup_missing');
  if (step === undefined) return holder;
  const [why = ''] = step.output.split('\n');
  return { kind: 'unable', code: 'setup_missing', why };
}

/** What is known of a review after its checks, and after its verdict where there is one. */
export interface ReviewFacts {
  readonly holder: GateHolder;
  /** False where nobody made an attempt, so that no agent could be shown anything. */
  readonly has_attempt: boolean;
  readonly steps: readonly StepResult[];
  readonly verdict: Verdict | null;
}

export type ReviewDecision =
  /** A check was cut off: it has said nothing about the work. */
  | { readonly answer: 'cut_off' }
  /** `reason` reaches whoever works on it next. */
  | { readonly answer: 'failed'; readonly reason: string }
  | { readonly answer: 'audit'; readonly agent: string }
  /** `changes`: the files for which a person has to look; `why`: what else a person has to look for. */
  | {
      readonly answer: 'waits_for_holder';
      readonly name: string;
      readonly changes?: readonly string[];
      readonly why?: Pick<Extract<GateHolder, { kind: 'unable' }>, 'code' | 'why'>;
    }
  | { readonly answer: 'passed' };

/**
 * What becomes of a review. The one place that knows: checks come first, nothing passes against the holder of the gate
 * or without a word of the holder, and a pass that names a blocker is none.
 */
export function decideReview({ steps, verdict, ...facts }: ReviewFacts): ReviewDecision {
  const { has_attempt } = facts;
  const holder = withSetupMissing(facts.holder, steps);
  const failed = steps.find(({ outcome }) => outcome !== 'passed' && outcome !== 'setup_missing');
  if (failed?.outcome === 'stopped') return { answer: 'cut_off' };
  if (failed !== undefined) return { answer: 'failed', reason: describeFailure(failed) };
  if (verdict !== null) return judgeVerdict(verdict);
  switch (holder.kind) {
    case 'none':
      return { answer: 'passed' };
    case 'managed':
      return has_attempt
        ? { answer: 'audit', agent: holder.name }
        : { answer: 'waits_for_holder', name: holder.name };
    case 'external':
    case 'person':
      return { answer: 'waits_for_holder', name: holder.name };
    case 'people':
      return { answer: 'waits_for_holder', name: 'a person', changes: holder.files };
    case 'unable':
      return { answer: 'waits_for_holder', name: 'a person', why: holder };
  }
}

function judgeVerdict({ verdict, summary, findings }: Verdict): ReviewDecision {
  if (verdict === 'reject') return { answer: 'failed', reason: summary };
  const blocker = findings.find(({ severity }) => severity === 'blocker');
  if (blocker === undefined) return { answer: 'passed' };
  return { answer: 'failed', reason: `The verdict was pass, with a blocker: ${blocker.message}` };
}

export function describeFailure({ command, outcome, exit_code, output }: StepResult): string {
  const how = outcome === 'failed' ? `ended with ${exit_code ?? 'a signal'}` : outcome.replaceAll('_', ' ');
  const tail = output.slice(-LIMITS.reason_tail_length);
  return `\`${command}\` ${how}${tail === '' ? '' : `: ${tail}`}`;
}

/** Which review counts, or why none does. */
export type PassFacts =
  | { readonly passed: true; readonly review: Review }
  | { readonly passed: false; readonly why: string };

/**
 * Whether the work as it stands has passed: the last review of the attempt says so, it speaks of the commit that is
 * there, and the task names that very review by its time. A review that was cleared is void, and the task names none.
 */
export function findPass(
  task: Pick<Task, 'id' | 'review_passed_at'>,
  attempt: Pick<Attempt, 'id' | 'branch' | 'head_commit'>,
  {
    reviews,
    gate_changes,
  }: { readonly reviews: readonly Review[]; readonly gate_changes: readonly string[] },
): PassFacts {
  const last = reviews.findLast(({ attempt_id }) => attempt_id === attempt.id);
  if (last === undefined) return { passed: false, why: `${task.id} was not reviewed` };
  if (last.cleared_at !== null)
    return { passed: false, why: `The work on ${task.id} went to somebody else after its review` };
  if (last.status !== 'passed')
    return { passed: false, why: `The last review of ${task.id} is ${last.status}` };
  if (last.head_commit !== attempt.head_commit)
    return { passed: false, why: `${attempt.branch} has changed since its review` };
  if (task.review_passed_at !== last.finished_at)
    return { passed: false, why: `What passed on ${task.id} counts no more` };
  if (gate_changes.length > 0 && !isSaidByPerson(last))
    return { passed: false, why: `It changes ${nameFiles(gate_changes)}, and no person has passed it` };
  return { passed: true, review: last };
}

/** The verdict is a person's, not an auditor's or an agent's. */
export function isSaidByPerson({ verdict_by }: Pick<Review, 'verdict_by'>): boolean {
  return verdict_by?.startsWith('user:') === true;
}

/** Results of checks from before this moment say nothing any more. Undefined where all of them do. */
export function findClearing(reviews: readonly Review[]): string | undefined {
  return reviews.reduce<string | undefined>(
    (latest, { cleared_at }) => (cleared_at !== null && cleared_at > (latest ?? '') ? cleared_at : latest),
    undefined,
  );
}

export type SpeakerDecision =
  | { readonly outcome: 'holder' }
  /** A person who is not the holder, and said so by `force`. */
  | { readonly outcome: 'forced' }
  | { readonly outcome: 'refused'; readonly why: string };

/** Whether this caller may say whether the work passes. */
export function decideSpeaker(
  holder: GateHolder,
  {
    actor,
    workers,
    force,
  }: { readonly actor: Actor; readonly workers: readonly string[]; readonly force: boolean },
): SpeakerDecision {
  if (actor.kind === 'agent') {
    if (workers.includes(actor.name))
      return { outcome: 'refused', why: `${actor.name} worked on it: nobody judges work of their own` };
    const isHolder = holder.kind === 'external' && holder.name === actor.name;
    return isHolder ? { outcome: 'holder' } : refuseOthers(holder, actor);
  }
  if (isForAnyPerson(holder)) return { outcome: 'holder' };
  if (holder.kind === 'person' && holder.name === actor.name) return { outcome: 'holder' };
  return force ? { outcome: 'forced' } : refuseOthers(holder, actor);
}

function refuseOthers(holder: GateHolder, { name }: Actor): SpeakerDecision {
  const whose = isForAnyPerson(holder) ? 'a person' : holder.name;
  return { outcome: 'refused', why: `${whose} says whether it passes, not ${name}` };
}

function isForAnyPerson(
  holder: GateHolder,
): holder is Extract<GateHolder, { kind: 'none' | 'people' | 'unable' }> {
  return holder.kind === 'none' || holder.kind === 'people' || holder.kind === 'unable';
}

/** `blocker src/a.ts:12: it leaks`, `minor: a typo`; what names no severity is major. */
export function parseFinding(text: string): Finding {
  const found = /^(blocker|major|minor)(?:\s+(\S+?)(?::(\d+))?)?:\s*(\S.*)$/s.exec(text.trim());
  if (found === null) return { severity: 'major', message: text.trim() };
  const [, severity, file, line, message = ''] = found;
  return {
    severity: severity as Finding['severity'], // the pattern allows nothing else
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line: Number(line) }),
    message,
  };
}

/** By its hooks: no name means anything. */
export function doesOnEnter(workflow: ResolvedWorkflow, state: string, action: ActionName): boolean {
  return (workflow.states.get(state)?.on_enter ?? []).some((hook) => hook.action === action);
}
