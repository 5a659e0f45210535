import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { EXECUTOR_TYPES } from '#executors/executor-types.ts';
import { findClis } from '#executors/find-clis.ts';
import { openProcessHost, type ProcessHost } from '#process/process-host.ts';
import { textsOf } from '../support/executor-run.ts';
import { openAgentBench, type AgentBench } from './agent-bench.ts';
import { AGENTS, type TestedAgent } from './agents.ts';
import { openModelServer, type ModelServer } from './model-server.ts';
import { plantSettings } from './planted-settings.ts';
import { LINGERING, type Played, type RunningScenario } from './play-scenario.ts';
import { toPrompt } from './trajectory.ts';

let server: ModelServer;
let best: ProcessHost;
let marker: ProcessHost;

beforeAll(async () => {
  server = await openModelServer();
  best = await openProcessHost();
  marker = await openProcessHost({ accept: ['marker'] });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const VERDICT = {
  type: 'object',
  properties: { verdict: { type: 'string' }, findings: { type: 'array', items: { type: 'string' } } },
  required: ['verdict', 'findings'],
  additionalProperties: false,
};

/** Two requests of 100 tokens in, 40 of them from a cache, and 10 out; Anthropic counts what is cached apart. */
const USAGE: Readonly<Record<TestedAgent['kind'], unknown>> = {
  claude: {
    input_tokens: 280,
    output_tokens: 20,
    cached_tokens: 80,
    cost: { usd: expect.any(Number), of: 'session' },
    model: expect.stringMatching(/^claude-/),
  },
  codex: { input_tokens: 200, output_tokens: 20, cached_tokens: 80, cost: null, model: 'gpt-5.5' },
  gemini: {
    input_tokens: 200,
    output_tokens: 20,
    cached_tokens: null,
    cost: null,
    model: 'gemini-2.5-flash',
  },
  opencode: { input_tokens: 200, output_tokens: 20, cached_tokens: 80, cost: null, model: 'scripted/model' },
};

/** The model says: in an hour. Without a time Forge waits a quarter of an hour. */
const LIMIT: Readonly<
  Record<
    TestedAgent['kind'],
    { readonly outcome: string; readonly wait_ms: number; readonly remark?: string }
  >
> = {
  claude: {
    outcome: 'usage_limit',
    wait_ms: 900_000,
    remark: 'with an API key it tells of the limit and not until when; Forge tries again after 15 minutes.',
  },
  codex: { outcome: 'usage_limit', wait_ms: 3_600_000 },
  gemini: {
    outcome: 'usage_limit',
    wait_ms: 900_000,
    remark: 'it tells of a daily quota and not until when; Forge tries again after 15 minutes.',
  },
  opencode: {
    outcome: 'timeout',
    wait_ms: Number.NaN,
    remark:
      'it waits for as long as the provider says and tells nobody; Forge’s own limit on silence ends it.',
  },
};

const HELLO = { 'hello.txt': 'hello\n' };

describe.each(AGENTS)('[S233] $title, installed from the registry', (agent) => {
  const { kind } = agent;
  const open = (context: TestContext): AgentBench =>
    openAgentBench(agent, context, { server, processes: best });

  it('says its version and answers the handshake', async (context) => {
    using bench = open(context);
    const { home, checkout } = bench.place;
    const extras = await agent.setUp({ home, url: server.url });
    const found = await findClis({
      cwd: checkout,
      env: { PATH: `${bench.bin}:${process.env['PATH'] ?? ''}`, HOME: home, ...extras },
      processes: best,
      version: '0',
      types: EXECUTOR_TYPES.filter((type) => type.kind === kind),
      limits: { probe_ms: 120_000 },
    });
    expect(found).toMatchObject([{ found: true, version: agent.version, answers: true, problem: null }]);
  });

  it('edits a file without a question where the profile allows edits', async (context) => {
    using bench = open(context);
    const { end, entries, files, asked } = await bench.play({ script: 'write', keep: 'edit' });
    expect(end).toMatchObject({ outcome: 'completed', exit_code: 0, denials: 0, survivors: 0 });
    expect(files).toEqual(HELLO);
    expect(asked).toEqual([]);
    const call = entries.find((entry) => entry.kind === 'tool_call');
    expect(JSON.stringify(call)).toContain('hello.txt');
    expect(entries.find((entry) => entry.kind === 'tool_result')).toMatchObject({ is_error: false });
    expect(textsOf(entries, 'message').at(-1)).toBe('The file is written.');
    expect(end.usage).toMatchObject(USAGE[kind] as object);
    // A trace of what the agent's program could not do.
    expect(textsOf(entries, 'output').join('\n')).not.toContain('does not answer');
  });

  it('asks, and does what a person allowed', async (context) => {
    using bench = open(context);
    const what = { script: 'write', permissions: 'ask', answer: 'allowed', keep: 'allowed' } as const;
    const { end, files, asked } = await bench.play(what);
    expect(end).toMatchObject({ outcome: 'completed', denials: 0 });
    expect(asked).toHaveLength(1);
    expect(files).toEqual(HELLO);
  });

  it('asks, and leaves what a person denied', async (context) => {
    using bench = open(context);
    const { end, files, asked } = await bench.play({ script: 'write', permissions: 'ask', keep: 'denied' });
    expect(end).toMatchObject({ outcome: 'denied', exit_code: 0, denials: 1 });
    expect(asked).toHaveLength(1);
    expect(files).toEqual({});
  });

  it('goes on when a command is denied', async (context) => {
    using bench = open(context);
    const what = { script: 'other-way', permissions: 'ask', keep: 'other-way' } as const;
    const { end, calls, files } = await bench.play(what);
    expect(files).toEqual({});
    const stops = kind === 'opencode';
    if (stops)
      bench.cannot('it ends its turn at the first refusal; the next prompt goes on with the session.');
    expect(end).toMatchObject({ outcome: 'denied', denials: stops ? 1 : 2 });
    expect(calls.at(-1)?.at).toBe(stops ? 0 : 2);
  });

  it('asks before a file outside of the checkout is changed, whatever the profile allows', async (context) => {
    using bench = open(context);
    const what = { script: 'outside', permissions: 'all', keep: 'outside' } as const;
    const { end, asked, outside } = await bench.play(what);
    expect(outside).toEqual([]);
    const refuses = kind === 'gemini';
    if (refuses) bench.cannot('it refuses by itself, and asks nobody.');
    expect(asked).toHaveLength(refuses ? 0 : 1);
    expect(end.outcome).toBe(refuses ? 'completed' : 'denied');
  });

  it('asks before a file outside is changed where the profile allows edits', async (context) => {
    using bench = open(context);
    const { asked, outside } = await bench.play({ script: 'outside' });
    expect(outside).toEqual([]);
    if (kind === 'gemini') bench.cannot('it refuses by itself, and asks nobody.');
    expect(asked.length > 0).toBe(kind !== 'gemini');
  });

  it('changes nothing in a run that may only look', async (context) => {
    using bench = open(context);
    const what = { script: 'write', permissions: 'all', read_only: true, keep: 'look' } as const;
    const { end, asked, files } = await bench.play(what);
    expect(files).toEqual({});
    expect(asked).toEqual([]);
    // Claude is not even offered the tool.
    expect(end.outcome).toBe(kind === 'claude' ? 'completed' : 'denied');
  });

  it('answers by a schema', async (context) => {
    using bench = open(context);
    const { end } = await bench.play({ script: 'verdict', output_schema: VERDICT, keep: 'verdict' });
    expect(end).toMatchObject({ outcome: 'completed', structured: { verdict: 'pass', findings: [] } });
  });

  it('resumes a session in a new process', async (context) => {
    using bench = open(context);
    const first = await bench.play({ script: 'write' });
    if (kind === 'gemini') {
      bench.note(
        'not in the minute in which the session began: it names the file of a session by the minute, begins it anew and so empties it. The run fails and says so.',
      );
      await sleep(60_000 - (Date.now() % 60_000));
    }
    const { end, ...played } = await bench.play({ script: 'again', resume: first.session, keep: 'resume' });
    expect([first.end, end]).toMatchObject([{ message: undefined }, { message: undefined }]);
    expect(played.session).toBe(first.session);
    // The model was told what was said before; what is told to us is only what is new.
    expect(played.calls.map(({ prompts }) => prompts)).toEqual([2]);
    expect(textsOf(played.entries, 'message').slice(1)).toEqual(['I go on where I was.']);
    expect(end.usage.input_tokens).toBe(kind === 'claude' ? 140 : 100);
    // [A12] Of the whole session: one request more than the two of the first run.
    const before = first.end.usage.cost?.usd ?? 0;
    expect((end.usage.cost?.usd ?? 0) / (before || 1)).toBeCloseTo(kind === 'claude' ? 1.5 : 0);
  });

  it('takes a further message while it works', async (context) => {
    using bench = open(context);
    const text = toPrompt('again', bench.place.checkout);
    const taken: boolean[] = [];
    const { end, entries } = await bench.play({
      script: 'write',
      permissions: 'ask',
      answer: 'allowed',
      whenAsked: async (run) => taken.push(await run.send(text)),
    });
    expect(taken).toEqual([true]);
    expect(end.outcome).toBe('completed');
    expect(textsOf(entries, 'message').at(-1)).toBe('I go on where I was.');
  });

  it('[A9] takes one while it writes its answer, and asks what that needs', async (context) => {
    using bench = open(context);
    const text = toPrompt('command', bench.place.checkout);
    let taken: Promise<boolean> | undefined;
    const { end, asked, files } = await bench.play({
      script: 'again',
      permissions: 'ask',
      answer: 'allowed',
      whenTold: (entry, run) => {
        if (entry.kind === 'message' && entry.role === 'agent') taken ??= run.send(text);
      },
    });
    // What comes when the last answer is over is kept for the next prompt.
    const isTaken = (await taken) ?? false;
    expect(end).toMatchObject({ outcome: 'completed', denials: 0 });
    expect(end.unheard ?? []).toEqual([]);
    expect(asked).toHaveLength(isTaken ? 1 : 0);
    expect(files).toEqual(isTaken ? HELLO : {});
    expect(isTaken || kind !== 'claude').toBe(true);
  });

  it('is cancelled while the model answers, and nothing is left', async (context) => {
    using bench = open(context);
    const stopWhen = ({ calls }: RunningScenario) => until(() => calls().length > 0);
    expectStopped(await bench.play({ script: 'slow', stopWhen, keep: 'cancelled' }));
  });

  /** The script starts one that is waited for, and one that leaves its parents and its session. */
  const bothRun = ({ leftovers }: RunningScenario) =>
    until(() => leftovers().filter(({ command }) => command === LINGERING).length >= 2);
  const linger = { script: 'linger', permissions: 'all', stopWhen: bothRun } as const;

  it('is cancelled while a command runs, and nothing is left', async (context) => {
    using bench = open(context);
    expectStopped(await bench.play(linger));
  });

  it('the same where processes are found by a mark in their environment alone', async (context) => {
    using bench = open(context);
    expectStopped(await bench.play({ ...linger, processes: marker }));
  });

  it('tells of a usage limit, and until when', async (context) => {
    using bench = open(context);
    const { outcome, wait_ms, remark } = LIMIT[kind];
    if (remark !== undefined) bench.cannot(remark);
    const waits = outcome === 'timeout';
    const how = waits ? { idle_ms: 30_000 } : { keep: 'limit' };
    const { end, recording } = await bench.play({ script: 'limit', ...how });
    expect(end.outcome).toBe(outcome);
    const until_when = Date.parse(recording.end.retry_after ?? '') - recording.head.now;
    expect(until_when).toBe(wait_ms);
  });

  function plant({ place }: AgentBench): string {
    const canary = join(place.root, 'canary');
    mkdirSync(join(place.checkout, '.git'), { recursive: true });
    plantSettings(kind, place.checkout, canary);
    return canary;
  }

  // In a folder that somebody trusts: in others some programs leave the user's own settings alone too.
  const allowed = { user_allows_all: true, trusted: true, permissions: 'ask' } as const;

  it('[A10] asks for a command, whatever the own settings of the user allow', async (context) => {
    using bench = open(context);
    const { asked, files } = await bench.play({ script: 'touch', ...allowed });
    expect(asked.map(({ command }) => command)).toEqual(['touch hello.txt']);
    expect(files).toEqual({});
  });

  it('[A10] asks for a change of a file, whatever the own settings of the user allow', async (context) => {
    using bench = open(context);
    const { asked, files } = await bench.play({ script: 'write', ...allowed });
    expect(asked.flatMap(({ paths }) => paths)).toEqual([join(bench.place.checkout, 'hello.txt')]);
    expect(files).toEqual({});
  });

  it.for(['touch', 'write'] as const)(
    '[A10] changes nothing by %s in a run that may only look, whatever the user allows',
    async (script, context) => {
      using bench = open(context);
      const { asked, files } = await bench.play({
        script,
        ...allowed,
        read_only: true,
        permissions: 'all',
      });
      expect([asked, files]).toEqual([[], {}]);
    },
  );

  it('runs a command that its profile allows by its first words without a question', async (context) => {
    using bench = open(context);
    const { asked, files } = await bench.play({
      script: 'command',
      // Its output goes to a file of the checkout, which a profile that asks for edits would ask for.
      permissions: 'edits',
      allow: ['echo hello'],
    });
    expect([asked, files]).toEqual([[], HELLO]);
  });

  it('is told why a person refused', async (context) => {
    using bench = open(context);
    const { calls, entries } = await bench.play({
      script: 'command',
      permissions: 'ask',
      reason: 'Not on a Friday',
    });
    const told = JSON.stringify([calls.map(({ result }) => result), textsOf(entries, 'message')]);
    expect(told).toContain('Not on a Friday');
  });

  it('takes no settings from a repository that nobody trusts', async (context) => {
    using bench = open(context);
    const canary = plant(bench);
    const { asked, files } = await bench.play({ script: 'write', permissions: 'ask' });
    expect(existsSync(canary)).toBe(false);
    expect(asked).toHaveLength(1);
    expect(files).not.toHaveProperty('hello.txt');
    // Codex would note in the user's own settings that the folder is trusted.
    const own = join(bench.place.home, '.codex', 'config.toml');
    expect(existsSync(own) ? readFileSync(own, 'utf8') : '').not.toContain('trust');
  });

  // The counter-proof: where somebody trusts it, the same settings are run. Ended as soon as they were, because
  // without a network opencode looks long for what a plugin may need.
  it('takes them from one that somebody trusts', async (context) => {
    using bench = open(context);
    const canary = plant(bench);
    await bench.play({
      script: 'slow',
      trusted: true,
      stopWhen: () => until(() => existsSync(canary)),
    });
    expect(existsSync(canary)).toBe(true);
  });
});

function expectStopped(played: Played): void {
  expect(played.before.length).toBeGreaterThan(0);
  expect(played.end).toMatchObject({ outcome: 'stopped', survivors: 0 });
  expect(played.leftovers).toEqual([]);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(50);
}
