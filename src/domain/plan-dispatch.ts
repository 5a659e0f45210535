import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { claimTarget, kindOf, roleOf, type ResolvedWorkflow } from './workflow.ts';
import { holderName } from './workflow-fields.ts';

/** An agent that Forge may start. */
export interface DispatchAgent {
  readonly name: string;
  /** Tasks at once. */
  readonly max: number;
  readonly paused: boolean;
}

export interface DispatchFacts {
  readonly now: number;
  /** What can be started, the first first. */
  readonly ready: readonly Task[];
  readonly agents: readonly DispatchAgent[];
  /** Of the last day, the oldest first. */
  readonly runs: readonly Run[];
  /** Who is at work on what, by the task. */
  readonly working: ReadonlyMap<string, string>;
  /** Agents of further runs on the same tasks: a task may be worked on by several. */
  readonly more_working?: readonly string[] | undefined;
  /** How many more may be at work at once. */
  readonly places: number;
  readonly per_state: ReadonlyMap<string, number>;
  /** Tasks in each state. */
  readonly in_state: ReadonlyMap<string, number>;
  readonly backoff: { readonly first_ms: number; readonly last_ms: number; readonly auth_ms: number };
}

export interface DispatchPlan {
  readonly starts: readonly { readonly task: Task; readonly agent: string }[];
  /** When something that waits for the time alone may be started; undefined where nothing does. */
  readonly until: number | undefined;
  /** Something waits for a place that others have. */
  readonly is_crowded: boolean;
}

/** Who begins with what now: by priority, within all bounds, and not sooner than what failed may be tried again. */
export function planDispatch(workflow: ResolvedWorkflow, facts: DispatchFacts): DispatchPlan {
  const { now } = facts;
  const load = countBy([...facts.working.values(), ...(facts.more_working ?? [])]);
  const inState = new Map(facts.in_state);
  const starts: { task: Task; agent: string }[] = [];
  const times: number[] = [];
  let is_crowded = false;
  const parked = new Map(facts.agents.map(({ name }) => [name, findAgentRest(facts, name)]));
  for (const task of facts.ready) {
    if (facts.working.has(task.id)) continue;
    const able = listAble(workflow, facts, task);
    if (able.length === 0) continue;
    const rest = findTaskRest(facts, task.id);
    const awake = able.filter(({ name }) => (parked.get(name) ?? 0) <= now);
    if (rest > now || awake.length === 0) {
      times.push(Math.max(rest, Math.min(...able.map(({ name }) => parked.get(name) ?? 0))));
      continue;
    }
    const free = awake.filter(({ name, max }) => (load.get(name) ?? 0) < max);
    const agent = free.toSorted((a, b) => (load.get(a.name) ?? 0) - (load.get(b.name) ?? 0))[0]?.name;
    if (agent === undefined || starts.length >= facts.places) {
      is_crowded = true;
      continue;
    }
    const to = targetOf(workflow, task, agent);
    if (isFull(workflow, { ...facts, in_state: inState }, to)) continue;
    inState.set(to, (inState.get(to) ?? 0) + 1);
    load.set(agent, (load.get(agent) ?? 0) + 1);
    starts.push({ task, agent });
  }
  return { starts, until: times.length === 0 ? undefined : Math.min(...times), is_crowded };
}

/** Those who may take it: whoever has its role, whoever it is kept for, else all. Nobody where that is a person. */
function listAble(
  workflow: ResolvedWorkflow,
  { agents, runs }: DispatchFacts,
  task: Task,
): readonly DispatchAgent[] {
  const able = agents.filter(({ paused }) => !paused);
  const named = (name: string): readonly DispatchAgent[] => able.filter((one) => one.name === name);
  const first = (workflow.states.get(workflow.initial)?.next ?? []).filter(
    (state) => kindOf(workflow, state) === 'active' && state !== workflow.in_progress,
  );
  for (const state of first) {
    const role = roleOf(workflow, state) ?? '';
    const holder = task.roles?.[role];
    const isDone = runs.some(
      (run) => run.task_id === task.id && run.role === role && run.outcome === 'completed',
    );
    if (holder !== undefined && !isDone) return 'agent' in holder ? named(holder.agent) : [];
  }
  const holder = task.roles?.[roleOf(workflow, workflow.in_progress) ?? ''];
  if (holder !== undefined) return 'agent' in holder ? named(holder.agent) : [];
  return task.assignee === null ? able : named(task.assignee);
}

function targetOf(workflow: ResolvedWorkflow, task: Task, agent: string): string {
  return claimTarget(workflow, task, (role) => {
    const holder = task.roles?.[role];
    return holder !== undefined && holderName(holder) === agent;
  });
}

/** Nothing is begun either while a gate behind it is full: it would only wait there. */
function isFull(
  workflow: ResolvedWorkflow,
  { per_state, in_state }: Pick<DispatchFacts, 'per_state' | 'in_state'>,
  to: string,
): boolean {
  return [...per_state].some(
    ([state, most]) =>
      (state === to || kindOf(workflow, state) === 'gate') && (in_state.get(state) ?? 0) >= most,
  );
}

/** Nobody's fault, and nothing to wait for by itself. */
const FREE: readonly Run['outcome'][] = [null, 'stopped', 'cap_reached', 'usage_limit', 'auth'];

/** Until when a task is left alone after runs that failed: twice as long with each. The first crash is no failure. */
function findTaskRest({ runs, backoff }: DispatchFacts, id: string): number {
  const own = runs.filter((run) => run.task_id === id);
  const since = own.slice(own.findLastIndex(({ outcome }) => outcome === 'completed') + 1);
  const failed = since.filter(({ outcome }) => !FREE.includes(outcome));
  const crashes = failed.filter(({ outcome }) => outcome === 'crashed').length;
  const count = failed.length - Math.min(crashes, 1);
  const last = failed.at(-1);
  if (count <= 0 || last === undefined) return 0;
  const rest = Math.min(backoff.first_ms * 2 ** (count - 1), backoff.last_ms);
  return Date.parse(last.ended_at ?? last.created_at) + rest;
}

/** Until when an agent is left alone: its provider said so, or it is not logged in and somebody has to see to that. */
function findAgentRest({ runs, backoff }: DispatchFacts, agent: string): number {
  const last = runs.findLast((run) => run.agent === agent && run.ended_at !== null);
  const ended = Date.parse(last?.ended_at ?? '');
  if (last?.outcome === 'usage_limit') return Date.parse(last.retry_after ?? '') || ended + backoff.auth_ms;
  return last?.outcome === 'auth' ? ended + backoff.auth_ms : 0;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
