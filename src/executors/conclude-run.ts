import type { Ended } from '#process/supervise.ts';
import type { RunEnd } from './executor.ts';
import { classifyFailure } from './protocols/classify-failure.ts';
import { findLastLine } from './protocols/last-line.ts';
import type { Failure, SessionReport } from './protocols/session.ts';

/** Why Forge ended a program, where it was not the supervisor's own doing. */
export type OurReason = 'stopped' | 'idle' | 'broken';

interface Facts {
  readonly program: string;
  readonly report: SessionReport;
  readonly ended: Ended;
  readonly why: OurReason | undefined;
  readonly now: number;
  /** Its standard error has nothing in it but why it failed, so that it may say why. */
  readonly errors_on_stderr: boolean;
}

/** How a run ended, from what the program said and how it went. An exit code of 0 alone says nothing. */
export function concludeRun(facts: Facts): RunEnd {
  const { report, ended } = facts;
  const failure = findFailure(facts);
  return {
    outcome: failure?.outcome ?? 'completed',
    message: failure?.message,
    exit_code: ended.exit,
    denials: report.denials,
    usage: report.usage,
    retry_after: failure?.retry_after,
    structured: report.structured,
    last_message: report.last_message,
    unheard: report.unheard,
    survivors: ended.survivors,
  };
}

function findFailure(facts: Facts): Failure | undefined {
  const { program, report, ended, why } = facts;
  if (why === 'broken') return { outcome: 'failed', message: `Forge could not listen: ${ended.error ?? ''}` };
  if (report.failure !== undefined && why !== 'stopped') return report.failure;
  if (report.finished && report.failure === undefined) {
    if (!report.gave_up) return undefined;
    return { outcome: 'denied', message: `${program} gave up after ${toCount(report.denials)} refused` };
  }
  if (why === 'stopped') return { outcome: 'stopped', message: `${program} was stopped` };
  if (why === 'idle') return { outcome: 'timeout', message: `${program} said nothing for too long` };
  return findProcessFailure(facts);
}

function findProcessFailure(facts: Facts): Failure {
  const { program, ended } = facts;
  switch (ended.reason) {
    case 'total_timeout':
      return { outcome: 'timeout', message: `${program} took too long` };
    case 'idle_timeout':
      return { outcome: 'timeout', message: `${program} said nothing for too long` };
    case 'output_limit':
      return {
        outcome: 'failed',
        message: `${program} wrote more than it may (${ended.output_bytes} bytes)`,
      };
    case 'memory_limit':
      return { outcome: 'failed', message: `${program} used more memory than it may` };
    case 'start_failed':
      return {
        outcome: 'not_installed',
        message: `${program} could not be started: ${ended.error ?? 'no reason given'}`,
      };
    case 'stopped':
    case 'exited':
      return toEarlyEnd(facts);
  }
}

/** How a program without a protocol says that nothing is wrong with the task: the numbers of sysexits.h and of shells. */
const EXIT_OUTCOMES: Readonly<Record<number, Failure['outcome']>> = {
  /** EX_UNAVAILABLE, EX_TEMPFAIL */
  69: 'unavailable',
  75: 'unavailable',
  /** EX_NOPERM */
  77: 'auth',
  /** The shell found no such program, or may not run it. */
  126: 'not_installed',
  127: 'not_installed',
};

function toEarlyEnd({ program, ended, now, errors_on_stderr }: Facts): Failure {
  const how = ended.signal ?? `exit code ${ended.exit ?? 'unknown'}`;
  const last = findLastLine(ended.stderr_tail);
  const message = `${program} ended with ${how} before it was done${last === undefined ? '' : `: ${last}`}`;
  if (!errors_on_stderr) return { outcome: EXIT_OUTCOMES[ended.exit ?? -1] ?? 'failed', message };
  return { ...classifyFailure({ message: ended.stderr_tail, now }), message };
}

function toCount(denials: number): string {
  return denials === 1 ? '1 request was' : `${denials} requests were`;
}
