import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, Run } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import {
  RUN_MARKER,
  type ApprovalRequest,
  type RunEnd,
  type RunHost,
  type StartedRun,
} from '#executors/executor.ts';
import { pickEnvironment } from '#executors/executor-types.ts';
import { openRunLog } from '#executors/run-log.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { createRedactor } from '#process/redact.ts';
import type { Writer } from '#store/store.ts';
import { toAttemptEnvironment } from './attempt-workspace.ts';
import { systemWriter, type ManagedAgent, type WorkPlace } from './work.ts';

/** One start of an agent's program. */
export interface AgentStart {
  readonly run: Run;
  readonly attempt: Attempt;
  readonly agent: ManagedAgent;
  readonly cwd: string;
  readonly prompt: string;
  readonly resume: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly read_only: boolean;
  readonly output_schema?: object | undefined;
}

const NOTHING_KNOWN = { input_tokens: null, output_tokens: null, cached_tokens: null, cost_usd: null };

/**
 * Starts the program, writes its log, passes on what is asked and said meanwhile, and stays with it to its end. The
 * run is `running` from the moment something may be at work.
 */
export async function runAgent(place: WorkPlace, start: AgentStart): Promise<RunEnd> {
  const { store } = place;
  const { run } = start;
  const secrets = createRedactor(Object.values(start.agent.env));
  const redact = (text: string): string => secrets.redact(text);
  const log = openRunLog({ path: toLogPath(place, run), clock: place.clock, redact });
  const tell = (entry: TranscriptEntry): void => {
    log.append(entry);
    place.watch({ kind: 'entry', run, entry });
  };
  try {
    place.watch({
      kind: 'run',
      run: await store.moveRun({ id: run.id, to: 'running' }, systemWriter(place)),
    });
    const executor = await place.executorFor(start.agent.profile);
    const started = await executor.start(toSpec(place, start), toHost(place, run, tell));
    return redactEnd(await attend(place, start, started), redact);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    tell({ kind: 'error', code: error.code, text: error.message });
    return {
      outcome: 'failed',
      message: error.message,
      exit_code: null,
      denials: 0,
      usage: NOTHING_KNOWN,
      survivors: 0,
    };
  } finally {
    log[Symbol.dispose]();
  }
}

/** What the agent's program needs besides what everything in the folder gets: its provider's keys, and its own. */
export function toAgentEnvironment(
  place: WorkPlace,
  { attempt, agent, run }: { readonly attempt: Attempt; readonly agent: ManagedAgent; readonly run: Run },
): Record<string, string> {
  return toAttemptEnvironment(place, attempt, {
    ...pickEnvironment(agent.profile.executor, place.env),
    ...agent.env,
    [RUN_MARKER]: run.id,
  });
}

function redactEnd(end: RunEnd, redact: (text: string) => string): RunEnd {
  const { message, last_message } = end;
  return {
    ...end,
    ...(message !== undefined && { message: redact(message) }),
    ...(last_message !== undefined && { last_message: redact(last_message) }),
  };
}

/** `<records>/<attempt>/<run>.jsonl` */
export function toLogPath(
  { records }: Pick<WorkPlace, 'records'>,
  run: Pick<Run, 'id' | 'attempt_id'>,
): string {
  const folder = join(records, run.attempt_id);
  mkdirSync(folder, { recursive: true });
  return join(folder, `${run.id}.jsonl`);
}

function toSpec(place: WorkPlace, { run, agent, cwd, prompt, resume, ...start }: AgentStart) {
  const { runs } = place.settings();
  return {
    run_id: run.id,
    cwd,
    prompt,
    profile: agent.profile,
    env: start.env,
    session: { id: run.session_id ?? run.id, resume },
    output_schema: start.output_schema,
    read_only: start.read_only,
    limits: {
      total_ms: runs.total_minutes * 60_000,
      idle_ms: runs.idle_minutes * 60_000,
      output_bytes: LIMITS.run_output_bytes,
    },
  };
}

function toHost(place: WorkPlace, run: Run, tell: (entry: TranscriptEntry) => void): RunHost {
  const { store } = place;
  return {
    tell,
    noteSession: (session_id) => void store.noteRun({ id: run.id, session_id }).catch(() => undefined),
    noteProcess: (process) => store.noteRun({ id: run.id, process }),
    async approve(request) {
      tell({ kind: 'approval', id: request.id, tool: request.tool, decision: 'asked' });
      const decision = await askPeople(place, run, request);
      tell({ kind: 'approval', id: request.id, tool: request.tool, decision });
      return decision;
    },
  };
}

/** The answer comes by whatever process a person uses, so it is looked for in the store. No answer means no. */
async function askPeople(
  place: WorkPlace,
  run: Run,
  { tool, input, signal }: ApprovalRequest,
): Promise<'allowed' | 'denied' | 'expired'> {
  const { store, clock } = place;
  const by: Writer = systemWriter(place);
  const { id } = await store.askApproval({ id: crypto.randomUUID(), run_id: run.id, tool, input }, by);
  const until = clock.now() + LIMITS.approval_ms;
  for (;;) {
    const asked = (await store.listApprovals({ run_id: run.id })).find((one) => one.id === id);
    if (asked === undefined) return 'expired';
    if (asked.state !== 'pending') return asked.state;
    if (clock.now() >= until || signal?.aborted === true) {
      const ended = await store
        .answerApproval({ id, state: 'expired' }, systemWriter(place))
        .catch(() => undefined);
      // Somebody may have answered in this very moment.
      return ended?.state === 'expired' ? 'expired' : 'denied';
    }
    await sleep(LIMITS.wish_poll_ms);
  }
}

/** Until the end: says that it is alive, stops it when somebody wishes so, hands on what people say. */
async function attend(place: WorkPlace, { run, attempt }: AgentStart, started: StartedRun): Promise<RunEnd> {
  const { store, clock } = place;
  let isOver = false;
  const watching = (async () => {
    for (let beat = 0; ;) {
      await sleep(LIMITS.wish_poll_ms);
      if (isOver) return;
      const wished = await store.readWishes(run.id).catch(() => undefined);
      if (wished?.stop === true) await started.stop();
      if (wished?.messages === true) await deliver(place, attempt, started);
      const now = clock.now();
      if (now - beat < LIMITS.run_beat_ms) continue;
      beat = now;
      await store.noteRun({ id: run.id, beat_at: now }).catch(() => undefined);
    }
  })();
  try {
    return await started.ended;
  } finally {
    isOver = true;
    await watching;
  }
}

async function deliver({ store, clock }: WorkPlace, attempt: Attempt, started: StartedRun): Promise<void> {
  for (const { seq, body } of await store.listMessages({ attempt_id: attempt.id })) {
    // One that cannot be taken now is part of the next prompt.
    if (!(await started.send(body))) return;
    await store.noteDelivered({ seq, now: clock.now() });
  }
}
