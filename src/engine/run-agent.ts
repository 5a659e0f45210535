import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Attempt, Run, RunUsage } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import { NO_WALLS, WALLS } from '#domain/describe-walls.ts';
import type { Loss } from '#domain/run-hold.ts';
import { RUN_MARKER, type RunEnd, type RunHost, type StartedRun } from '#executors/executor.ts';
import { pickEnvironment } from '#executors/executor-types.ts';
import { openRunLog } from '#executors/run-log.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { RUN_SOCKET_KEY } from '#process/find-own-run.ts';
import type { Walls } from '#process/walls.ts';
import { noteGivenValues } from '#sync/given-values.ts';
import type { RunWishes } from '#store/attempt-store.ts';
import { followEvents } from '#store/follow-events.ts';
import { answerRequest } from './ask-people.ts';
import { findSecretsOf, type Secrets } from './agent-secrets.ts';
import { toAttemptEnvironment } from './attempt-environment.ts';
import { findRemoval } from './find-removal.ts';
import { findWalls } from './find-walls.ts';
import { setPlantedAside, watchCli } from './protect-cli.ts';
import { readFolderNote } from './folder-note.ts';
import { writeLinkFile } from './link-file.ts';
import { openRunMeter, type RunMeter } from './run-meter.ts';
import { SentMessages } from './sent-messages.ts';
import { createTeller, describeFault, type Teller } from './tell-entries.ts';
import { tellFailure } from './tell-failure.ts';
import { watchStray } from './watch-strays.ts';
import { systemWriter, type ManagedAgent, type WorkPlace } from './work.ts';

/** One start of an agent's program. */
export interface AgentStart {
  readonly run: Run;
  readonly attempt: Attempt;
  readonly agent: ManagedAgent;
  readonly cwd: string;
  readonly prompt: string;
  readonly resume: boolean;
  /** The whole assignment, for the case that the conversation is not there any more. */
  readonly fresh_prompt?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly read_only: boolean;
  readonly output_schema?: object | undefined;
}

/** How its program ended, and what a person should know besides. */
export interface AgentEnd extends Omit<RunEnd, 'usage'> {
  readonly usage: RunUsage;
  readonly warning?: string | undefined;
  /** Why it was stopped, where its task was taken from it. */
  readonly lost?: Loss['code'] | undefined;
  /** The cap that it reached, also where it was done before it could be stopped. */
  readonly reached?: string | undefined;
}

/**
 * Starts the program, writes its log, passes on what is asked and said meanwhile, and stays with it to its end. The
 * run is `running` from the moment something may be at work.
 */
export async function runAgent(place: WorkPlace, start: AgentStart): Promise<AgentEnd> {
  const { store } = place;
  const { run } = start;
  const isRemoved = watchAgent(place, run);
  const secrets = await findSecretsOf(place, run);
  const log = openRunLog({
    path: toLogPath(place, run),
    clock: place.clock,
    redact: secrets.redact,
    mode: readSharedModes(place.repo.common_dir).file,
  });
  const teller = createTeller((entry) => place.watch({ kind: 'entry', run, entry: log.append(entry) }));
  const { tell } = teller;
  try {
    place.watch({
      kind: 'run',
      run: await store.moveRun({ id: run.id, to: 'running' }, systemWriter(place)),
    });
    const work = async (): Promise<AgentEnd> => {
      await noteGivenValues(place.home, { agent: run.agent, env: start.agent.env, now: place.clock.now() });
      // A person may have changed them since the run was given them.
      secrets.learn(Object.values(start.agent.env));
      await tellOfRun(place, start);
      const before = await place.checkout.lookBefore();
      const executor = await place.executorFor(start.agent.profile);
      await using socket = await place.openRunSocket?.(run, secrets);
      const env = { ...start.env, ...socket?.env };
      // An agent that prints its environment must not give its place in the project away.
      secrets.learn([socket?.env[RUN_SOCKET_KEY] ?? '']);
      const walls = await findWalls(place, {
        cwd: start.cwd,
        env,
        read_only: start.read_only,
        profile: start.agent.profile,
        socket: socket?.path,
      });
      tell({
        kind: 'note',
        text: walls === undefined ? `No walls: ${NO_WALLS}` : `Inside of walls: ${WALLS}`,
      });
      watchCli(place, { run, env, executor: start.agent.profile.executor, cwd: start.cwd, walls });
      const attendOne = async (one: AgentStart): Promise<Attended> => {
        const meter = await openRunMeter(place, { run: one.run, tell });
        const reached = meter.findReached();
        if (reached !== undefined) return { ended: toUnstarted(reached), loss: undefined, reached };
        const started = await executor.start(
          toSpec(place, { ...one, env, walls }),
          toHost(place, { run: one.run, secrets, tell, meter }),
        );
        const look = watchStray(place, one.attempt, tell);
        return attend(place, { ...one, isRemoved, look, meter, teller }, started);
      };
      const first = await attendOne(start);
      const fresh = isSessionLost(start, first) ? await beginAfresh(place, start, tell) : undefined;
      const { ended, loss, reached } = fresh === undefined ? first : await attendOne(fresh);
      if (loss !== undefined) tell({ kind: 'error', code: 'task_lost', text: loss.message });
      if (reached !== undefined) tell({ kind: 'error', code: 'cap_reached', text: reached });
      const told = toUntold(ended, teller.fault());
      const end = loss === undefined ? toCapped(told, reached) : toLost(told, loss);
      const planted = setPlantedAside(place, run);
      if (planted !== undefined) tell({ kind: 'error', code: 'settings_planted', text: planted });
      const changed = await place.checkout.compare(before);
      if (changed !== undefined) tell({ kind: 'error', code: 'checkout_changed', text: changed });
      const warning = [planted, changed].filter((text) => text !== undefined).join('. ');
      if (warning === '') return end;
      const text = secrets.redact(warning);
      place.watch({ kind: 'note', task_id: run.task_id, attempt_id: run.attempt_id, text });
      return { ...end, warning };
    };
    // Those who audit have a folder of their own.
    const isThere = start.cwd === start.attempt.path;
    const what = `run ${run.id} of ${run.agent}`;
    const end = isThere ? await place.folders.hold(start.attempt, what, work) : await work();
    return redactEnd(end, secrets);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    const message = tellFailure(error);
    tell({ kind: 'error', code: error.code, text: message });
    const outcome = error.code === 'dependency_missing' ? 'not_installed' : 'failed';
    const end = { outcome, message, exit_code: null, denials: 0, usage: NO_USAGE, survivors: 0 } as const;
    return redactEnd(end, secrets);
  } finally {
    // Where it failed to start, and has done so above otherwise.
    setPlantedAside(place, run);
    log[Symbol.dispose]();
  }
}

/**
 * A program that was to go on with a conversation and failed before it said a word has lost it: it was cleaned up, or is
 * another machine's.
 */
function isSessionLost({ resume, fresh_prompt }: AgentStart, { ended, loss }: Attended): boolean {
  const isMute = ended.outcome === 'failed' && ended.last_message === undefined;
  return resume && fresh_prompt !== undefined && loss === undefined && isMute;
}

/** The same run with a conversation of its own, and the whole assignment. */
async function beginAfresh(
  { store }: WorkPlace,
  start: AgentStart,
  tell: (entry: TranscriptEntry) => void,
): Promise<AgentStart> {
  const session_id = crypto.randomUUID();
  await store.noteRun({ id: start.run.id, session_id });
  tell({
    kind: 'note',
    text: 'Its earlier session could not be resumed: it begins anew with the whole task',
  });
  const run = { ...start.run, session_id };
  return { ...start, run, resume: false, prompt: start.fresh_prompt ?? start.prompt };
}

/** The link file, where the project wants one and the repository does not have it, names the run too. */
async function tellOfRun(place: WorkPlace, { run, attempt, cwd }: AgentStart): Promise<void> {
  const { linkFile } = place.settings().workspace;
  const isOurs = linkFile !== undefined && readFolderNote(place, attempt.id).copied.includes(linkFile);
  if (!isOurs || cwd !== attempt.path) return;
  writeLinkFile(place, { attempt, run, task: await place.store.getTask(attempt.task_id) });
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

/** What cannot be redacted is left out, and is why the run failed. */
function redactEnd(end: AgentEnd, { redact, redactValue }: Secrets): AgentEnd {
  const { message, last_message, structured, warning, ...rest } = end;
  try {
    return {
      ...end,
      ...(message !== undefined && { message: redact(message) }),
      ...(last_message !== undefined && { last_message: redact(last_message) }),
      ...(structured !== undefined && { structured: redactValue(structured) }),
      ...(warning !== undefined && { warning: redact(warning) }),
    };
  } catch (error) {
    return { ...rest, outcome: 'failed', message: describeFault(error) };
  }
}

/** `<records>/<attempt>/<run>.jsonl` */
export function toLogPath(
  { records }: Pick<WorkPlace, 'records'>,
  run: Pick<Run, 'id' | 'attempt_id'>,
): string {
  const folder = join(records, run.attempt_id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, `${run.id}.jsonl`);
}

function toSpec(
  place: WorkPlace,
  { run, agent, cwd, prompt, resume, ...start }: AgentStart & { readonly walls: Walls | undefined },
) {
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
    walls: start.walls,
    trusted: place.trustsAgentSettings(cwd),
    limits: {
      total_ms: runs.total_minutes * 60_000,
      idle_ms: runs.idle_minutes * 60_000,
      output_bytes: LIMITS.run_output_bytes,
    },
  };
}

interface Telling {
  readonly run: Run;
  readonly meter: RunMeter;
  readonly secrets: Secrets;
  readonly tell: (entry: TranscriptEntry) => void;
}

function toHost(place: WorkPlace, { run, secrets, tell, meter }: Telling): RunHost {
  const { store } = place;
  return {
    tell,
    noteSession: (session_id) => void store.noteRun({ id: run.id, session_id }).catch(() => undefined),
    noteUsage: (usage, when) => meter.note(usage, when),
    noteProcess: (process) => store.noteRun({ id: run.id, process }),
    approve: (request) => answerRequest(place, run, { request, secrets, tell }),
  };
}

interface Attendance extends Pick<AgentStart, 'run' | 'attempt'> {
  readonly look: () => Promise<void>;
  readonly isRemoved: () => Promise<Loss | undefined>;
  readonly meter: RunMeter;
  readonly teller: Pick<Teller, 'broken'>;
}

interface Attended {
  readonly ended: AgentEnd;
  /** The cap that it has reached, in words. */
  readonly reached: string | undefined;
  /** Why it was stopped, where its task was taken from it. */
  readonly loss: Loss | undefined;
}

/**
 * Until the end: says that it is alive, stops it when somebody wishes so or its task is not its own any more, hands on
 * what people say.
 */
async function attend(
  place: WorkPlace,
  { run, attempt, look, isRemoved, meter, teller }: Attendance,
  started: StartedRun,
): Promise<Attended> {
  const { store, clock } = place;
  teller.broken.then(() => started.stop()).catch(() => undefined);
  const messages = new SentMessages(place, attempt, started);
  let isOver = false;
  let loss: Loss | undefined;
  let reached: string | undefined;
  const events = await followEvents(store);
  const over = new AbortController();
  const watching = (async () => {
    let wished: RunWishes | undefined;
    for (let beat = 0; ;) {
      const isNews = await events.next({ signal: over.signal, timeout_ms: LIMITS.wish_poll_ms });
      if (isOver) return;
      if (isNews || wished?.messages !== false)
        wished = await store.readWishes(run.id).catch(() => undefined);
      loss ??= wished?.loss ?? (await isRemoved());
      reached ??= meter.findReached();
      if (wished?.stop === true || loss !== undefined || reached !== undefined) await started.stop();
      // One that the program does not take now is offered again.
      if (wished?.messages === true) await messages.deliver();
      await look();
      const now = clock.now();
      if (now - beat < LIMITS.run_beat_ms) continue;
      beat = now;
      await store.noteRun({ id: run.id, beat_at: now }).catch(() => undefined);
      await meter.refresh().catch(() => undefined);
    }
  })();
  try {
    const ended = await started.ended;
    const usage = meter.end(ended.usage);
    return { ended: { ...ended, usage, reached: meter.findReached() }, loss, reached };
  } finally {
    isOver = true;
    over.abort();
    await watching;
    await messages.settle();
  }
}

/** Agents are a file of the home, so it is read once in a while. */
function watchAgent(place: WorkPlace, { agent, created_at }: Run): () => Promise<Loss | undefined> {
  const { clock } = place;
  let looked = clock.now();
  return async () => {
    if (clock.now() - looked < LIMITS.agent_look_ms) return undefined;
    looked = clock.now();
    return findRemoval(place, agent, created_at);
  };
}

/** What it did cannot be judged by a log that is not whole. */
function toUntold(ended: AgentEnd, fault: string | undefined): AgentEnd {
  return fault === undefined ? ended : { ...ended, outcome: 'failed', message: fault };
}

/** One that was done before it could be stopped is done, if it has done anything. */
function toCapped(ended: AgentEnd, reached: string | undefined): AgentEnd {
  if (reached === undefined || ended.outcome === 'completed') return ended;
  return { ...ended, outcome: 'cap_reached', message: reached };
}

function toUnstarted(message: string): AgentEnd {
  return { outcome: 'cap_reached', message, exit_code: null, denials: 0, usage: NO_USAGE, survivors: 0 };
}

/** Whatever its program said at the end, it was not its business any more. */
function toLost(ended: AgentEnd, { code, message }: Loss): AgentEnd {
  return { ...ended, outcome: 'stopped', message: `Stopped: ${message}`, lost: code };
}
