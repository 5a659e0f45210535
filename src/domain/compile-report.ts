import type { Attempt, Run } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Report } from '#contract/report-operations.ts';
import type { Task } from '#contract/task.ts';
import { findCheckoutChange } from './checkout-change.ts';
import { isAgentFault } from './decide-suspension.ts';
import { sumUsage } from './sum-usage.ts';

export interface ReportFacts {
  readonly since: string;
  readonly until: string;
  readonly now: number;
  /** Attempts that were merged, whenever. */
  readonly merged: readonly Attempt[];
  /** Runs that began in that time, the oldest first. */
  readonly runs: readonly Run[];
  /** What waits for a person now. */
  readonly inbox: readonly InboxItem[];
  /** Tasks at work now. */
  readonly at_work: ReadonlySet<string>;
  /** Of every task that is named in what is here; one that was deleted is missing. */
  readonly tasks: ReadonlyMap<string, Pick<Task, 'title' | 'state' | 'status' | 'error_annotation'>>;
}

/** The tasks that a report is about. */
export function listReported({
  merged,
  runs,
  inbox,
  since,
  until,
}: Omit<ReportFacts, 'tasks' | 'at_work'>): string[] {
  const landed = merged.filter(({ finished_at }) => isWithin(finished_at, { since, until }));
  return [
    ...new Set([
      ...landed.map(({ task_id }) => task_id),
      ...runs.map(({ task_id }) => task_id),
      ...inbox.flatMap(({ task_id }) => task_id ?? []),
    ]),
  ];
}

export function compileReport(facts: ReportFacts): Omit<Report, 'suspended'> {
  const { since, until, now, runs, tasks } = facts;
  const titleOf = (id: string): string | null => tasks.get(id)?.title ?? null;
  const landed = facts.merged
    .filter(({ finished_at }) => isWithin(finished_at, facts))
    .map(({ task_id, agent, merge_commit, target, finished_at }) => ({
      task_id,
      title: titleOf(task_id),
      agent,
      merge_commit,
      target,
      at: finished_at ?? '',
    }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const isThere = new Set(landed.map(({ task_id }) => task_id));
  const { at_work } = facts;
  const byTaskId = { at_work, tasks, inbox: toFirst(facts.inbox), runs: toFirst(runs.toReversed()) };
  const byAgent = [...Map.groupBy(runs, ({ agent }) => agent)];
  const byTask = [...Map.groupBy(runs, ({ task_id }) => task_id)];
  return {
    since,
    until,
    landed,
    not_landed: listReported(facts)
      .filter((id) => !isThere.has(id))
      .map((id) => explain(byTaskId, id))
      .toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)),
    warnings: runs.flatMap(({ id, task_id, agent, message: said }) => {
      const message = findCheckoutChange(said);
      const command = `forge runs logs ${id}`;
      return message === undefined ? [] : [{ task_id, run_id: id, agent, message, command }];
    }),
    cost: sumUsage(runs, now),
    by_agent: byAgent.map(([agent, own]) => ({ agent, ...sumUsage(own, now) })).toSorted(byCost),
    by_task: byTask
      .map(([task_id, own]) => ({ task_id, title: titleOf(task_id), ...sumUsage(own, now) }))
      .toSorted(byCost),
  };
}

type NotLanded = Report['not_landed'][number];

const ORDER: readonly NotLanded['kind'][] = ['waiting', 'failed', 'open', 'at_work', 'closed'];

/** The first of each task. */
function toFirst<T extends { readonly task_id: string | null }>(list: readonly T[]): ReadonlyMap<string, T> {
  const first = new Map<string, T>();
  for (const one of list) if (one.task_id !== null && !first.has(one.task_id)) first.set(one.task_id, one);
  return first;
}

interface FactsByTask extends Pick<ReportFacts, 'at_work' | 'tasks'> {
  readonly inbox: ReadonlyMap<string, InboxItem>;
  /** The last run of each. */
  readonly runs: ReadonlyMap<string, Run>;
}

function explain({ runs, inbox, at_work, tasks }: FactsByTask, id: string): NotLanded {
  const task = tasks.get(id);
  const run = runs.get(id);
  const known = {
    task_id: id,
    title: task?.title ?? null,
    state: task?.state ?? null,
    agent: run?.agent ?? null,
  };
  const item = inbox.get(id);
  if (task === undefined)
    return { ...known, kind: 'closed', why: 'it was deleted', command: `forge task restore ${id}` };
  if (item !== undefined) return { ...known, kind: 'waiting', why: item.message, command: item.command };
  if (task.status === 'closed')
    return { ...known, kind: 'closed', why: `it is ${task.state}`, command: `forge task show ${id}` };
  if (at_work.has(id))
    return { ...known, kind: 'at_work', why: 'it is at work', command: `forge runs list --task ${id}` };
  const why = task.error_annotation?.message ?? run?.message ?? `it is in ${task.state}`;
  const isFailed = run !== undefined && run.outcome !== 'completed' && !isAgentFault(run.outcome);
  return { ...known, kind: isFailed ? 'failed' : 'open', why, command: `forge task show ${id}` };
}

function isWithin(at: string | null, { since, until }: Pick<ReportFacts, 'since' | 'until'>): boolean {
  return at !== null && at >= since && at < until;
}

function byCost(a: Report['cost'], b: Report['cost']): number {
  return (b.usd ?? 0) - (a.usd ?? 0) || b.minutes - a.minutes;
}
