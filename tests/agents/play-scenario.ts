import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { createExecutor } from '#executors/create-executor.ts';
import type { ApprovalRequest, PermissionPolicy, RunEnd, RunSpec, StartedRun } from '#executors/executor.ts';
import { toChildEnvironment } from '#process/child-environment.ts';
import type { ProcessHost } from '#process/process-host.ts';
import { countOpencode } from '#store/count-opencode.ts';
import { NOW } from '../support/executor-run.ts';
import { toProtocolEntries, type RecordedLine, type Recording } from '../support/agent-recordings.ts';
import type { TestedAgent } from './agents.ts';
import { findLeftovers, type Leftover } from './find-leftovers.ts';
import type { ModelCall, ModelServer } from './model-server.ts';
import { scrubRecording } from './scrub-recording.ts';
import { allowAllByUser } from './planted-settings.ts';
import { toPrompt, type ScriptName } from './trajectory.ts';

/** A home and a checkout of an agent, for one run or several. */
export interface AgentPlace extends Disposable {
  readonly agent: TestedAgent;
  readonly bin: string;
  readonly server: ModelServer;
  readonly root: string;
  readonly home: string;
  readonly checkout: string;
}

export function openAgentPlace(
  agent: TestedAgent,
  { bin, server }: { readonly bin: string; readonly server: ModelServer },
): AgentPlace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'forge-agents-')));
  const [home, checkout] = [join(root, 'home'), join(root, 'checkout')];
  mkdirSync(home);
  mkdirSync(checkout);
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  return { agent, bin, server, root, home, checkout, [Symbol.dispose]: remove };
}

export interface Scenario {
  readonly script: ScriptName;
  readonly permissions?: PermissionPolicy;
  /** What a person answers, if asked. */
  readonly answer?: 'allowed' | 'denied';
  /** Why a person refuses. */
  readonly reason?: string;
  /** Commands that need no question. */
  readonly allow?: readonly string[];
  readonly resume?: string;
  /** The user's own settings of the program allow everything. */
  readonly user_allows_all?: boolean;
  readonly read_only?: boolean;
  readonly trusted?: boolean;
  readonly output_schema?: object;
  readonly idle_ms?: number;
  /** Before the answer to a question: what else somebody does. */
  readonly whenAsked?: (run: StartedRun) => Promise<unknown>;
  /** At every entry: what else somebody does. */
  readonly whenTold?: (entry: TranscriptEntry, run: StartedRun) => void;
  /** Stops the run when this resolves. */
  readonly stopWhen?: (run: RunningScenario) => Promise<void>;
}

export interface RunningScenario {
  readonly run_id: string;
  readonly entries: readonly TranscriptEntry[];
  readonly calls: () => readonly ModelCall[];
  readonly leftovers: () => readonly Leftover[];
}

export interface Played {
  readonly end: RunEnd;
  readonly entries: readonly TranscriptEntry[];
  readonly asked: readonly ApprovalRequest[];
  readonly session: string;
  readonly seconds: number;
  readonly files: Readonly<Record<string, string>>;
  /** Outside of the checkout. */
  readonly outside: readonly string[];
  readonly calls: readonly ModelCall[];
  /** Of a run that was stopped: what ran just before, and what ran when it was said to be over. */
  readonly before: readonly Leftover[];
  readonly leftovers: readonly Leftover[];
  readonly recording: Recording;
}

export const LINGERING = 'sleep 7654321';

/** Runs a real CLI through its executor, the way the engine does, and keeps all that was said. */
export async function playScenario(
  place: AgentPlace,
  { name, processes, ...scenario }: Scenario & { readonly name: string; readonly processes: ProcessHost },
): Promise<Played> {
  const { agent, server } = place;
  const entries: TranscriptEntry[] = [];
  const asked: ApprovalRequest[] = [];
  const lines: RecordedLine[] = [];
  const first_call = server.calls.length;
  const spec = await toSpec(place, scenario);
  const answer = scenario.answer ?? 'denied';
  let session = spec.session.id;
  let books: Recording['head']['books'];
  const started = Promise.withResolvers<StartedRun>();
  const began = Date.now();
  // As it stands at the beginning: what the agent says of times is then the same in every run.
  const clock = { now: () => began };
  const executor = createExecutor(spec.profile, {
    clock,
    processes,
    player: [],
    version: '0.0.0',
    countOpencode(of) {
      const counts = countOpencode(of);
      if (counts !== undefined) books = { before: books?.before ?? counts, after: counts };
      return counts;
    },
    tap: (from, line) => lines.push({ from, line: parse(line) }),
  });
  const run = await executor.start(spec, {
    tell(entry) {
      entries.push(entry);
      if (scenario.whenTold !== undefined)
        started.promise.then(
          (one) => scenario.whenTold?.(entry, one),
          () => {},
        );
    },
    noteSession: (id) => {
      session = id;
    },
    noteUsage: () => {},
    noteProcess: async () => {},
    async approve(request) {
      asked.push(request);
      await scenario.whenAsked?.(await started.promise);
      return { decision: answer, reason: scenario.reason };
    },
  });
  started.resolve(run);
  const look = () => findLeftovers({ run_id: spec.run_id, place: place.root, command: LINGERING });
  const calls = () => server.calls.slice(first_call);
  let before: readonly Leftover[] = [];
  if (scenario.stopWhen !== undefined) {
    await scenario.stopWhen({ run_id: spec.run_id, entries, calls, leftovers: look });
    before = look();
    await run.stop();
  }
  const end = await run.ended;
  const leftovers = look();
  const recording = scrubRecording(
    {
      head: {
        executor: agent.kind,
        cli: agent.package,
        version: agent.version,
        scenario: name,
        spec: toKeptSpec(spec),
        answer,
        stopped: scenario.stopWhen !== undefined,
        forge: '0.0.0',
        ...(books !== undefined && { books }),
        now: NOW,
      },
      lines,
      entries: toProtocolEntries(entries),
      end,
    },
    {
      // Some write a path without its first slash, or as one name.
      paths: [
        [place.checkout, '/checkout'],
        [place.checkout.slice(1), 'checkout'],
        [place.checkout.replaceAll('/', '-'), '-checkout'],
        [place.home, '/home/user'],
        [place.root, '/place'],
        [place.bin, '/agents'],
        [dirname(dirname(place.bin)), '/agents'],
        [`${tmpdir()}/`, '/temporary/'],
      ],
      began,
      now: NOW,
    },
  );
  return {
    end,
    entries,
    asked,
    session,
    seconds: (Date.now() - began) / 1_000,
    files: readFiles(place.checkout),
    outside: readdirSync(place.root).filter((one) => one !== 'home' && one !== 'checkout'),
    calls: calls(),
    before,
    leftovers,
    recording,
  };
}

async function toSpec(
  { agent, bin, server, home, checkout }: AgentPlace,
  scenario: Scenario,
): Promise<RunSpec> {
  const extras = await agent.setUp({ home, url: server.url });
  if (scenario.user_allows_all === true) allowAllByUser(agent.kind, home);
  const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  const { output_schema, trusted } = scenario;
  return {
    run_id: crypto.randomUUID(),
    cwd: checkout,
    prompt: toPrompt(scenario.script, checkout),
    profile: {
      executor: agent.kind,
      permissions: scenario.permissions ?? 'edits',
      ...(scenario.allow !== undefined && { allow: scenario.allow }),
      ...(agent.model !== undefined && { model: agent.model }),
    },
    env: toChildEnvironment({ PATH: path, HOME: home, TERM: 'dumb' }, extras),
    session: { id: scenario.resume ?? crypto.randomUUID(), resume: scenario.resume !== undefined },
    read_only: scenario.read_only ?? false,
    ...(output_schema !== undefined && { output_schema }),
    ...(trusted !== undefined && { trusted }),
    limits: { total_ms: 300_000, idle_ms: scenario.idle_ms ?? 240_000, output_bytes: 100_000_000 },
  };
}

function toKeptSpec({ env: _env, limits: _limits, ...kept }: RunSpec): Recording['head']['spec'] {
  return kept;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return line;
  }
}

function readFiles(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}
