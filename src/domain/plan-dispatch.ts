import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { isAgentFault, type Suspension, type SuspensionRules } from './decide-suspension.ts';
import { claimTarget, kindOf, roleOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { holderName } from './workflow-fields.ts';

/** An agent that Forge may start. */
export interface DispatchAgent {
  readonly name: string;
  /** Tasks at once. */
  readonly max: number;
  readonly paused: boolean;
  /** Why it is left alone, or was until a moment ago: then it is tried with one task. */
  readonly suspension?: Suspension | undefined;
}

export interface DispatchFacts {
  readonly now: number;
  /** What can be started, and what stands still and can be gone on with; the first first. */
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
  /** Agents of tasks that are worked on in several attempts: one of them at least has to be able to work. */
  readonly sides?: ReadonlyMap<string, readonly string[]> | undefined;
  readonly backoff: SuspensionRules;
}

export interface DispatchPlan {
  readonly starts: readonly { readonly task: Task; readonly agent: string }[];
  /** When something that waits for the time alone may be started; undefined where nothing does. */
  readonly until: number | undefined;
  /** What waits for agents that a person has to see to; those are tried again now and then all the same. */
  readonly stranded: readonly Task[];
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
  const stranded: Task[] = [];
  let is_crowded = false;
  let waits_for_probe = false;
  const idle = facts.ready.filter(({ id }) => !facts.working.has(id));
  const probes = pickProbes(workflow, facts, idle);
  for (const task of idle) {
    const able = listAble(workflow, facts, task);
    if (able.length === 0) continue;
    const rest = findTaskRest(facts, task.id);
    const asleep = findSleep(facts, task, able);
    if (asleep !== undefined && asleep.mends === 'by_person') {
      stranded.push(task);
      continue;
    }
    const until = Math.max(rest, asleep?.until ?? 0);
    if (until > now) {
      times.push(until);
      continue;
    }
    const awake = able.filter((agent) => isAwake(agent, now));
    const free = awake.filter(({ name, max, suspension }) =>
      suspension === undefined
        ? (load.get(name) ?? 0) < max
        : (load.get(name) ?? 0) === 0 && probes.get(name) === task.id,
    );
    // Another one may do better than one that has failed at it.
    const failed = countBy(
      facts.runs
        .filter(({ task_id, outcome }) => task_id === task.id && isFailure(outcome))
        .map((run) => run.agent),
    );
    const agent = free.toSorted(
      (a, b) =>
        (failed.get(a.name) ?? 0) - (failed.get(b.name) ?? 0) ||
        (load.get(a.name) ?? 0) - (load.get(b.name) ?? 0),
    )[0]?.name;
    if (agent === undefined || starts.length >= facts.places) {
      const isProbed = agent === undefined && awake.every(({ suspension }) => suspension !== undefined);
      if (isProbed) waits_for_probe = true;
      else is_crowded = true;
      continue;
    }
    const to = targetOf(workflow, task, agent);
    // What goes on where it stands has its place there already.
    const isThere = standingState(workflow, task) === to;
    if (isThere) inState.set(to, (inState.get(to) ?? 1) - 1);
    const full = isFull(workflow, { ...facts, in_state: inState }, to);
    if (!full || isThere) inState.set(to, (inState.get(to) ?? 0) + 1);
    if (full) continue;
    load.set(agent, (load.get(agent) ?? 0) + 1);
    starts.push({ task, agent });
  }
  // Where nothing is tried, nothing will come of it.
  if (waits_for_probe && (starts.length > 0 || facts.working.size > 0)) is_crowded = true;
  return { starts, until: times.length === 0 ? undefined : Math.min(...times), stranded, is_crowded };
}

function isAwake({ suspension }: DispatchAgent, now: number): boolean {
  return (suspension?.until ?? 0) <= now;
}

/** The suspension that ends first, where all are suspended that the task could be worked on by. */
function findSleep(
  { agents, sides, now }: DispatchFacts,
  { id }: Task,
  able: readonly DispatchAgent[],
): Pick<Suspension, 'until' | 'mends'> | undefined {
  const needed = sides?.get(id);
  const own = needed === undefined ? [] : agents.filter(({ name }) => needed.includes(name));
  for (const group of [able, own]) {
    if (group.length === 0 || group.some((agent) => isAwake(agent, now))) continue;
    const asleep = group.flatMap(({ suspension }) => suspension ?? []);
    // What mends by itself is worth waiting for, also beside what does not.
    const waits = asleep.filter(({ mends }) => mends === 'by_itself');
    const until = Math.min(...(waits.length > 0 ? waits : asleep).map((one) => one.until));
    return { until, mends: waits.length > 0 ? 'by_itself' : 'by_person' };
  }
  return undefined;
}

/**
 * The one task that an agent is tried with whose suspension is over: the one it failed on least, so that a task that
 * makes it fail does not keep it from all others.
 */
function pickProbes(
  workflow: ResolvedWorkflow,
  facts: DispatchFacts,
  idle: readonly Task[],
): ReadonlyMap<string, string> {
  const picked = new Map<string, string>();
  for (const { name, suspension } of facts.agents) {
    if (suspension === undefined || suspension.until > facts.now) continue;
    const failed = countBy(
      facts.runs
        .filter(({ agent, outcome }) => agent === name && isAgentFault(outcome))
        .map(({ task_id }) => task_id),
    );
    const own = idle.filter(
      (task) =>
        findTaskRest(facts, task.id) <= facts.now &&
        listAble(workflow, facts, task).some((agent) => agent.name === name),
    );
    const [first] = own.toSorted((a, b) => (failed.get(a.id) ?? 0) - (failed.get(b.id) ?? 0));
    if (first !== undefined) picked.set(name, first.id);
  }
  return picked;
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

/** Not the fault of the task, and nothing to wait for by itself. */
const FREE: readonly Run['outcome'][] = [null, 'stopped', 'cap_reached'];

function isFailure(outcome: Run['outcome']): boolean {
  return outcome !== 'completed' && !FREE.includes(outcome) && !isAgentFault(outcome);
}

/** Until when a task is left alone after runs that failed: twice as long with each. The first crash is no failure. */
function findTaskRest({ runs, backoff }: DispatchFacts, id: string): number {
  const own = runs.filter((run) => run.task_id === id);
  const since = own.slice(own.findLastIndex(({ outcome }) => outcome === 'completed') + 1);
  const failed = since.filter(({ outcome }) => isFailure(outcome));
  const crashes = failed.filter(({ outcome }) => outcome === 'crashed').length;
  const count = failed.length - Math.min(crashes, 1);
  const last = failed.at(-1);
  if (count <= 0 || last === undefined) return 0;
  const rest = Math.min(backoff.first_ms * 2 ** (count - 1), backoff.last_ms);
  return Date.parse(last.ended_at ?? last.created_at) + rest;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
