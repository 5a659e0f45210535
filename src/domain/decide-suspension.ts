import type { Run, RunOutcome } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';

/**
 * Ends of a run that say something about its agent or about the world, and nothing about the task: the task loses no
 * try by them, and the agent is suspended for a while.
 */
const FAULTS = {
  /** Waiting is enough. */
  usage_limit: 'by_itself',
  unavailable: 'by_itself',
  /** A person has to do something. It is tried again all the same: Forge is not told when it was done. */
  auth: 'by_person',
  not_installed: 'by_person',
} as const satisfies Partial<Record<RunOutcome, 'by_itself' | 'by_person'>>;

export type AgentFault = keyof typeof FAULTS;

export function isAgentFault(outcome: Run['outcome']): outcome is AgentFault {
  return outcome !== null && Object.hasOwn(FAULTS, outcome);
}

/** Ends that say nothing about the agent either. */
const SILENT: ReadonlySet<Run['outcome']> = new Set([null, 'stopped', 'crashed']);

export interface Suspension {
  readonly agent: string;
  readonly fault: AgentFault;
  readonly mends: 'by_itself' | 'by_person';
  readonly reason: string;
  /** Its first fault in a row. */
  readonly since: string;
  /** In milliseconds since 1970. Afterwards it is tried with one task, until one gets anywhere. */
  readonly until: number;
}

export interface SuspensionRules {
  readonly first_ms: number;
  readonly last_ms: number;
}

export const FAULT_RULES: SuspensionRules = {
  first_ms: LIMITS.fault_first_ms,
  last_ms: LIMITS.fault_last_ms,
};

type EndedRun = Pick<Run, 'agent' | 'outcome' | 'message' | 'retry_after' | 'created_at' | 'ended_at'>;

/** What is known of an agent besides its runs. */
export interface KnownAgent {
  readonly name: string;
  /** When a person last said that it may go on: faults from before count no more. */
  readonly resumed_at?: string | null | undefined;
  /** The same for what only a person can mend: the person who starts Forge has seen to it, or will be told again. */
  readonly mended_at?: string | undefined;
}

/**
 * Since and until when an agent is left alone, by its last runs; undefined where the last one that says anything found
 * it able to work. A time that has passed is one that it is on probation since. Runs in any order.
 */
export function findSuspension(
  runs: readonly EndedRun[],
  { name, resumed_at, mended_at = '' }: KnownAgent,
  { first_ms, last_ms }: SuspensionRules,
): Suspension | undefined {
  const own = runs.filter(({ agent, ended_at, outcome }) => {
    if (agent !== name || ended_at === null || SILENT.has(outcome)) return false;
    const isMended = isAgentFault(outcome) && FAULTS[outcome] === 'by_person' && ended_at <= mended_at;
    return ended_at > (resumed_at ?? '') && !isMended;
  });
  const ended = own.toSorted((a, b) => compareTexts(a.ended_at, b.ended_at));
  const row = ended.slice(ended.findLastIndex(({ outcome }) => !isAgentFault(outcome)) + 1);
  const [first, last] = [row[0], row.at(-1)];
  if (first === undefined || last === undefined || !isAgentFault(last.outcome)) return undefined;
  const ended_at = Date.parse(last.ended_at ?? '');
  const rest = Math.min(first_ms * 2 ** (countRounds(row) - 1), last_ms);
  return {
    agent: name,
    fault: last.outcome,
    mends: FAULTS[last.outcome],
    reason: last.message ?? last.outcome.replaceAll('_', ' '),
    since: first.ended_at ?? first.created_at,
    until: Date.parse(last.retry_after ?? '') || ended_at + rest,
  };
}

/** Runs that were under way at the same time met the same fault: they are one try. */
function countRounds(row: readonly EndedRun[]): number {
  let count = 0;
  let end = '';
  for (const { created_at, ended_at } of row) {
    if (count > 0 && created_at < end) continue;
    count += 1;
    end = ended_at ?? created_at;
  }
  return count;
}

function compareTexts(a: string | null, b: string | null): number {
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

/** One line, with what ends it early. */
export function describeSuspension({ agent, reason, until }: Suspension): string {
  return `${agent} is suspended until ${toIso(until)}: ${reason.replace(/\.$/, '')}. Sooner: forge agent resume ${agent}`;
}
