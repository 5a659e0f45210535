import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { SaidUsage } from '#domain/count-usage.ts';
import type {
  ApprovalRequest,
  ExecutorTools,
  ProgramLimits,
  RunEnd,
  RunHost,
  RunSpec,
  StartedRun,
} from '#executors/executor.ts';
import { createExecutor } from '#executors/create-executor.ts';
import type { ProcessHost } from '#process/process-host.ts';
import type { ProcessIdentity } from '#process/process-identity.ts';

export const NOW = Date.UTC(2026, 0, 1);

/** Agents of ours are compiled once, not at each start. */
const COMPILE_CACHE = join(tmpdir(), 'forge-test-compile-cache');
const PLAYER = fileURLToPath(new URL('./executor-player.ts', import.meta.url));
const AGENT = fileURLToPath(new URL('./executor-agent.ts', import.meta.url));

/** The command of an agent of ours that speaks `dialect` and does what `scenario` says. */
export function agentCommand(dialect: string, scenario: string): readonly string[] {
  return [process.execPath, AGENT, dialect, scenario];
}

export interface TestRun {
  readonly spec: RunSpec;
  readonly entries: TranscriptEntry[];
  readonly sessions: string[];
  readonly identities: ProcessIdentity[];
  readonly asked: ApprovalRequest[];
  readonly usages: { readonly usage: SaidUsage; readonly when: 'working' | 'turn_end' }[];
  readonly started: StartedRun;
  readonly end: Promise<RunEnd>;
}

/** Starts an executor in `cwd` and keeps what it tells. */
export async function startTestRun(options: {
  readonly processes: ProcessHost;
  readonly cwd: string;
  readonly profile: Partial<RunSpec['profile']> & { readonly executor: string };
  readonly spec?: Partial<Omit<RunSpec, 'profile' | 'cwd'>>;
  readonly host?: Partial<RunHost>;
  readonly limits?: ProgramLimits;
  readonly tap?: NonNullable<ExecutorTools['tap']>;
}): Promise<TestRun> {
  const entries: TranscriptEntry[] = [];
  const sessions: string[] = [];
  const identities: ProcessIdentity[] = [];
  const usages: TestRun['usages'] = [];
  const asked: ApprovalRequest[] = [];
  const profile = { permissions: 'edits' as const, ...options.profile };
  const spec: RunSpec = {
    run_id: crypto.randomUUID(),
    cwd: options.cwd,
    prompt: 'Write a file',
    env: { PATH: process.env['PATH'] ?? '', HOME: options.cwd, NODE_COMPILE_CACHE: COMPILE_CACHE },
    session: { id: crypto.randomUUID(), resume: false },
    read_only: false,
    limits: { total_ms: 60_000, idle_ms: 60_000, output_bytes: 100_000_000 },
    ...options.spec,
    profile,
  };
  const host: RunHost = {
    tell: (entry) => entries.push(entry),
    noteSession: (id) => sessions.push(id),
    noteUsage: (usage, when) => usages.push({ usage, when }),
    noteProcess: async (identity) => void identities.push(identity),
    approve: async () => ({ decision: 'denied' }),
    ...options.host,
  };
  const approve = host.approve.bind(host);
  host.approve = (request) => {
    asked.push(request);
    return approve(request);
  };
  const tools = { ...toTools(options.processes, options.limits), tap: options.tap };
  const started = await createExecutor(profile, tools).start(spec, host);
  return { spec, entries, sessions, identities, asked, usages, started, end: started.ended };
}

export function toTools(processes: ProcessHost, limits?: ProgramLimits): ExecutorTools {
  return {
    clock: { now: () => NOW },
    processes,
    player: [process.execPath, PLAYER],
    version: '0.0.0',
    // Only to be waited for by a test of theirs: a busy machine is slow to end a program that ends well.
    limits: { exit_ms: 20_000, interrupt_ms: 20_000, grace_ms: 500, ...limits },
  };
}

/** Processes that carry the run's marker, by a look of our own at the system. */
export function findSurvivors(run_id: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readEnvironment(pid).includes(`FORGE_RUN_ID=${run_id}`));
}

function readEnvironment(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Resolves when the run has told such an entry. */
export async function told(run: TestRun, fits: (entry: TranscriptEntry) => boolean): Promise<void> {
  while (!run.entries.some(fits)) await new Promise((next) => setTimeout(next, 5));
}

export function textsOf(
  entries: readonly TranscriptEntry[],
  kind: TranscriptEntry['kind'],
): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === kind && 'text' in entry ? [entry.text] : []));
}
