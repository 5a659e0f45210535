import type { Run } from '#contract/attempt.ts';
import { toMinutes } from './sum-usage.ts';

/** What may be used: in money, tokens and time. */
export interface Amounts {
  readonly usd: number;
  readonly tokens: number;
  readonly minutes: number;
}

export type CapUnit = keyof Amounts;
/** Of what: one run, a task with all its runs, the last 24 hours of a project, all of a project. */
export type CapScope = 'run' | 'task' | 'night' | 'project';
/** The most of each; what is left out has no cap. */
export type Cap = { readonly [U in CapUnit]?: number | undefined };
export type Caps = Readonly<Record<CapScope, Cap>>;

export interface ReachedCap {
  readonly scope: CapScope;
  readonly unit: CapUnit;
  readonly spent: number;
  readonly most: number;
}

const SCOPES: readonly CapScope[] = ['run', 'task', 'night', 'project'];
const UNITS: readonly CapUnit[] = ['usd', 'tokens', 'minutes'];

export const NOTHING_SPENT: Amounts = { usd: 0, tokens: 0, minutes: 0 };

/** The caps as the settings have them: those of the night are the scheduler's budget. */
export function toCaps(settings: CapSettings): Caps {
  const { caps, scheduler } = settings;
  return {
    run: { usd: caps.run_usd, tokens: caps.run_tokens },
    task: { usd: caps.task_usd, tokens: caps.task_tokens, minutes: caps.task_minutes },
    night: {
      usd: scheduler.budget_usd,
      tokens: scheduler.budget_tokens,
      minutes: scheduler.budget_minutes,
    },
    project: { usd: caps.project_usd, tokens: caps.project_tokens, minutes: caps.project_minutes },
  };
}

type Wish = number | undefined;

export interface CapSettings {
  readonly caps: {
    readonly run_usd: Wish;
    readonly run_tokens: Wish;
    readonly task_usd: Wish;
    readonly task_tokens: Wish;
    readonly task_minutes: Wish;
    readonly project_usd: Wish;
    readonly project_tokens: Wish;
    readonly project_minutes: Wish;
  };
  readonly scheduler: {
    readonly budget_usd: Wish;
    readonly budget_tokens: Wish;
    readonly budget_minutes: Wish;
  };
}

/** The first cap that is reached. What a program did not say counts for nothing. */
export function findReachedCap(
  caps: Caps,
  spent: Partial<Readonly<Record<CapScope, Amounts>>>,
): ReachedCap | undefined {
  for (const scope of SCOPES) {
    for (const unit of UNITS) {
      const most = caps[scope][unit];
      const used = spent[scope]?.[unit];
      if (most !== undefined && used !== undefined && used >= most) return { scope, unit, spent: used, most };
    }
  }
  return undefined;
}

export function hasCap(caps: Caps, unit: CapUnit): boolean {
  return SCOPES.some((scope) => caps[scope][unit] !== undefined);
}

/** Whether what other runs used has a say in when one has to stop. */
export function countsOthers(caps: Caps, scope: CapScope): boolean {
  return UNITS.some((unit) => caps[scope][unit] !== undefined);
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return { usd: a.usd + b.usd, tokens: a.tokens + b.tokens, minutes: a.minutes + b.minutes };
}

type CountedRun = Pick<Run, 'usage' | 'started_at' | 'ended_at'>;

export function sumRuns(runs: readonly CountedRun[], now: number): Amounts {
  return runs.map((run) => toAmounts(run, now)).reduce(addAmounts, NOTHING_SPENT);
}

export function toAmounts({ usage, started_at, ended_at }: CountedRun, now: number): Amounts {
  return {
    usd: usage.cost_usd ?? 0,
    tokens: (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0),
    minutes: toMinutes({ started_at, ended_at }, now),
  };
}

/** `$2.01 of $2.00`, `1200 of 1000 tokens`. */
export function describeSpent({ unit, spent, most }: ReachedCap): string {
  switch (unit) {
    case 'usd':
      return `$${spent.toFixed(spent < 0.1 ? 4 : 2)} of $${most.toFixed(most < 0.1 ? 4 : 2)}`;
    case 'tokens':
      return `${spent} of ${most} tokens`;
    case 'minutes':
      return `${spent < 10 ? Number(spent.toFixed(1)) : Math.floor(spent)} of ${most} minutes`;
  }
}

const WHOSE: Readonly<Record<CapScope, string>> = {
  run: 'run',
  task: 'task',
  night: 'last 24 hours',
  project: 'project',
};

/** What stopped a run or keeps it from starting, and the command by which it goes on. */
export function describeCap(reached: ReachedCap, { task_id, agent }: Pick<Run, 'task_id' | 'agent'>): string {
  const what = `The cap of the ${WHOSE[reached.scope]} is reached: ${describeSpent(reached)}`;
  return `${what}${RAISE}${toRaise(reached)} && forge run ${task_id} --agent ${agent}`;
}

/** Why nothing at all is started, and the command by which something is. */
export function describeBudget(reached: ReachedCap): { readonly message: string; readonly command: string } {
  const of = reached.scope === 'night' ? 'in 24 hours' : 'in all';
  const message = `The budget is spent (${describeSpent(reached)} ${of}): nothing more is started`;
  return { message, command: toRaise(reached) };
}

function toRaise(reached: ReachedCap): string {
  return `forge settings set ${toSetting(reached)} ${toNext(reached)}`;
}

const RAISE = '; to raise it: ';

/** Twice the cap. What was spent is what a program says: no figure of its own is offered to the person as a cap. */
function toNext({ most }: ReachedCap): number {
  const next = most * 2;
  return next >= 1 ? Math.ceil(next) : Number(next.toPrecision(2)) || 1;
}

/** What `describeCap` says and the command in it; undefined where it is none of that. */
export function splitRaise(text: string): { readonly message: string; readonly command: string } | undefined {
  const at = text.indexOf(RAISE);
  return at < 0 ? undefined : { message: text.slice(0, at), command: text.slice(at + RAISE.length) };
}

function toSetting({ scope, unit }: ReachedCap): string {
  return scope === 'night' ? `scheduler.budget_${unit}` : `caps.${scope}_${unit}`;
}
