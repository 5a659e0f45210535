import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClis } from '#executors/find-clis.ts';
import { EXECUTOR_TYPES } from '#executors/executor-types.ts';
import { openProcessHost, type ProcessHost } from '#process/process-host.ts';
import { RECORDINGS, toRecordingText } from '../support/agent-recordings.ts';
import { textsOf } from '../support/executor-run.ts';
import { AGENTS, type TestedAgent } from './agents.ts';
import { openModelServer, type ModelServer } from './model-server.ts';
import { plantSettings } from './planted-settings.ts';
import {
  LINGERING,
  openAgentPlace,
  playScenario,
  type AgentPlace,
  type Played,
  type RunningScenario,
  type Scenario,
} from './play-scenario.ts';
import { appendRow } from './report.ts';
import { toPrompt } from './trajectory.ts';

const bin = process.env['FORGE_AGENTS_BIN'] ?? '';
const rows = process.env['FORGE_AGENTS_ROWS'];

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

describe.each(AGENTS)('[S233] $title, installed from the registry', (agent) => {
  const { kind } = agent;

  /** What is looked at becomes a row of the report, whether it is as expected or not. */
  function scenario(title: string, check: (place: AgentPlace) => Promise<Told>): void {
    it(title, async () => {
      using place = openAgentPlace(agent, { bin, server });
      let told: Told | undefined;
      try {
        told = await check(place);
        await told.expectations();
      } catch (error) {
        noteRow(agent, { title, told, passed: false });
        throw error;
      }
      noteRow(agent, { title, told, passed: true });
      if (told.keep !== undefined) keepRecording(told.keep, told.played);
    });
  }

  const play = (place: AgentPlace, name: string, what: Scenario, processes = best): Promise<Played> =>
    playScenario(place, { name, processes, ...what });

  it('says its version and answers the handshake', async () => {
    using place = openAgentPlace(agent, { bin, server });
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: place.home };
    const types = EXECUTOR_TYPES.filter((type) => type.kind === kind);
    const extras = await agent.setUp({ home: place.home, url: server.url });
    const limits = { probe_ms: 120_000 };
    const search = {
      cwd: place.checkout,
      env: { ...env, ...extras },
      processes: best,
      version: '0',
      types,
      limits,
    };
    expect(await findClis(search)).toMatchObject([
      { found: true, version: agent.version, answers: true, problem: null },
    ]);
  });

  scenario('edits a file without a question where the profile allows edits', async (place) => {
    const played = await play(place, 'edit', { script: 'write' });
    return toTold(played, 'edit', () => {
      expect(played.end).toMatchObject({ outcome: 'completed', exit_code: 0, denials: 0, survivors: 0 });
      expect(played.files).toEqual({ 'hello.txt': 'hello\n' });
      expect(played.asked).toEqual([]);
      const call = played.entries.find((entry) => entry.kind === 'tool_call');
      expect(JSON.stringify(call)).toContain('hello.txt');
      expect(played.entries.find((entry) => entry.kind === 'tool_result')).toMatchObject({ is_error: false });
      expect(textsOf(played.entries, 'message').at(-1)).toBe('The file is written.');
      expect(played.end.usage).toEqual(USAGE[kind]);
    });
  });

  scenario('asks, and does what a person allowed', async (place) => {
    const played = await play(place, 'allowed', { script: 'write', permissions: 'ask', answer: 'allowed' });
    return toTold(played, 'allowed', () => {
      expect(played.end).toMatchObject({ outcome: 'completed', denials: 0 });
      expect(played.asked).toHaveLength(1);
      expect(played.files).toEqual({ 'hello.txt': 'hello\n' });
    });
  });

  scenario('asks, and leaves what a person denied', async (place) => {
    const played = await play(place, 'denied', { script: 'write', permissions: 'ask', answer: 'denied' });
    return toTold(played, 'denied', () => {
      expect(played.end).toMatchObject({ outcome: 'denied', exit_code: 0, denials: 1 });
      expect(played.asked).toHaveLength(1);
      expect(played.files).toEqual({});
    });
  });

  scenario('finds another way when a command is denied', async (place) => {
    const played = await play(place, 'other-way', { script: 'other-way', permissions: 'ask', ...ANSWERS });
    if (kind === 'opencode')
      return toTold(played, 'other-way', {
        note: 'it ends its turn at the first refusal; the run counts as denied, and the next prompt resumes it.',
        check: () => expect(played.end).toMatchObject({ outcome: 'denied', denials: 1 }),
      });
    return toTold(played, 'other-way', () => {
      expect(played.end).toMatchObject({ outcome: 'denied', denials: 2 });
      expect(played.calls.at(-1)?.at).toBe(2);
    });
  });

  scenario(
    'asks before a file outside of the checkout is changed, whatever the profile allows',
    async (place) => {
      const played = await play(place, 'outside', { script: 'outside', permissions: 'all' });
      const stayed = () => expect(played.outside).toEqual([]);
      if (kind === 'gemini')
        return toTold(played, 'outside', {
          note: 'it refuses by itself, and asks nobody.',
          check: () => {
            stayed();
            expect(played.asked).toEqual([]);
          },
        });
      return toTold(played, 'outside', () => {
        stayed();
        expect(played.asked).toHaveLength(1);
        expect(played.end).toMatchObject({ outcome: 'denied', denials: 1 });
      });
    },
  );

  scenario('changes nothing in a run that may only look', async (place) => {
    const played = await play(place, 'look', { script: 'write', permissions: 'all', read_only: true });
    return toTold(played, 'look', () => {
      expect(played.files).toEqual({});
      expect(played.asked).toEqual([]);
      // Claude is not even offered the tool.
      expect(played.end.outcome).toBe(kind === 'claude' ? 'completed' : 'denied');
    });
  });

  scenario('answers by a schema', async (place) => {
    const played = await play(place, 'verdict', { script: 'verdict', output_schema: VERDICT });
    return toTold(played, 'verdict', () => {
      expect(played.end).toMatchObject({
        outcome: 'completed',
        structured: { verdict: 'pass', findings: [] },
      });
    });
  });

  scenario('resumes a session in a new process', async (place) => {
    const first = await play(place, 'first', { script: 'write' });
    const played = await play(place, 'resume', { script: 'again', resume: first.session });
    return toTold(played, 'resume', () => {
      expect(first.end.outcome).toBe('completed');
      expect(played.end.outcome).toBe('completed');
      expect(played.session).toBe(first.session);
      // The model was told what was said before.
      expect(played.calls.map(({ prompts }) => prompts)).toEqual([2]);
      expect(textsOf(played.entries, 'message').slice(1)).toEqual(['I go on where I was.']);
      expect(played.end.usage.input_tokens).toBe(
        { claude: 140, codex: 100, gemini: 100, opencode: 100 }[kind],
      );
    });
  });

  scenario('takes a further message while it works', async (place) => {
    const text = toPrompt('again', place.checkout);
    let taken: boolean | undefined;
    const played = await play(place, 'message', {
      script: 'write',
      permissions: 'ask',
      answer: 'allowed',
      async whenAsked(run) {
        taken ??= await run.send(text);
      },
    });
    return toTold(played, undefined, () => {
      expect(taken).toBe(true);
      expect(played.end.outcome).toBe('completed');
      expect(textsOf(played.entries, 'message').at(-1)).toBe('I go on where I was.');
    });
  });

  scenario('is cancelled while the model answers, and nothing is left', async (place) => {
    const asked = async ({ calls }: RunningScenario) => until(() => calls().length > 0);
    const played = await play(place, 'cancelled', { script: 'slow', stopWhen: asked });
    return toTold(played, 'cancelled', () => expectStopped(played));
  });

  describe.each([
    ['what the system has for it', () => best],
    ['a mark in the environment alone', () => marker],
  ])('held by %s', (held, host) => {
    scenario(`is cancelled while a command runs, held by ${held}, and nothing is left`, async (place) => {
      const both = async ({ leftovers }: RunningScenario) =>
        until(() => leftovers().filter(({ command }) => command === LINGERING).length >= 2);
      const what = { script: 'linger', permissions: 'all', stopWhen: both } as const;
      const played = await play(place, 'cancelled-at-work', what, host());
      return toTold(played, undefined, () => expectStopped(played));
    });
  });

  scenario('tells of a usage limit, and until when', async (place) => {
    const idle_ms = kind === 'opencode' ? 30_000 : 240_000;
    const played = await play(place, 'limit', { script: 'limit', idle_ms });
    const { recording } = played;
    const until_when = Date.parse(played.recording.end.retry_after ?? '') - recording.head.now;
    if (kind === 'opencode')
      return toTold(played, undefined, {
        note: 'it waits by itself, for as long as the provider says, and tells nobody; the limit on silence ends it.',
        check: () => expect(played.end.outcome).toBe('timeout'),
      });
    if (kind === 'claude' || kind === 'gemini')
      return toTold(played, 'limit', {
        note: 'it does not say until when (Claude Code with an API key, Gemini CLI with a daily quota); Forge tries again after 15 minutes.',
        check: () => {
          expect(played.end.outcome).toBe('usage_limit');
          expect(until_when).toBe(15 * 60_000);
        },
      });
    return toTold(played, 'limit', () => {
      expect(played.end.outcome).toBe('usage_limit');
      expect(until_when).toBe(3_600_000);
    });
  });

  scenario('takes no settings from a repository that nobody trusts', async (place) => {
    const canary = join(place.root, 'canary');
    mkdirSync(join(place.checkout, '.git'), { recursive: true });
    plantSettings(kind, place.checkout, canary);
    const played = await play(place, 'planted', { script: 'write', permissions: 'ask' });
    return toTold(played, undefined, () => {
      expect(existsSync(canary)).toBe(false);
      expect(played.asked).toHaveLength(1);
      expect(played.files).not.toHaveProperty('hello.txt');
      // Codex would note in the user's settings that the folder is trusted.
      if (kind === 'codex') expect(readFileSync(join(place.home, '.codex/config.toml'), 'utf8')).not.toContain('trust');
    });
  });

  // The same settings where somebody does: they are of the kind that would be run.
  it('runs what a trusted repository brings', async () => {
    using place = openAgentPlace(agent, { bin, server });
    const canary = join(place.root, 'canary');
    mkdirSync(join(place.checkout, '.git'), { recursive: true });
    plantSettings(kind, place.checkout, canary);
    await play(place, 'trusted', { script: 'again', trusted: true });
    expect(existsSync(canary)).toBe(true);
  });
});

const ANSWERS = { answer: 'denied' } as const;

/** Two requests of 100 tokens in, 40 of them from a cache, and 10 out; Anthropic counts what is cached apart. */
const USAGE: Readonly<Record<TestedAgent['kind'], unknown>> = {
  claude: { input_tokens: 280, output_tokens: 20, cached_tokens: 80, cost_usd: expect.any(Number) },
  codex: { input_tokens: 200, output_tokens: 20, cached_tokens: 80, cost_usd: null },
  gemini: { input_tokens: 200, output_tokens: 20, cached_tokens: null, cost_usd: null },
  opencode: { input_tokens: null, output_tokens: null, cached_tokens: null, cost_usd: null },
};

interface Told {
  readonly played: Played;
  /** The name of the recording that is kept. */
  readonly keep: string | undefined;
  readonly can: boolean;
  readonly note?: string | undefined;
  expectations(): void | Promise<void>;
}

type Check = () => void | Promise<void>;

function toTold(
  played: Played,
  keep: string | undefined,
  how: Check | { readonly note: string; readonly check: Check },
): Told {
  if (typeof how === 'function') return { played, keep, can: true, expectations: how };
  return { played, keep, can: false, note: how.note, expectations: how.check };
}

function expectStopped(played: Played): void {
  expect(played.before.length).toBeGreaterThan(0);
  expect(played.end).toMatchObject({ outcome: 'stopped', survivors: 0 });
  expect(played.leftovers).toEqual([]);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(50);
}

function noteRow(
  agent: TestedAgent,
  {
    title,
    told,
    passed,
  }: { readonly title: string; readonly told: Told | undefined; readonly passed: boolean },
): void {
  if (rows === undefined) return;
  appendRow(rows, {
    kind: agent.kind,
    title,
    passed,
    can: told?.can ?? false,
    outcome: told?.played.end.outcome ?? 'no end',
    exit_code: told?.played.end.exit_code ?? null,
    seconds: told?.played.seconds ?? 0,
    ...(told?.note !== undefined && { note: told.note }),
  });
}

function keepRecording(name: string, { recording }: Played): void {
  writeFileSync(join(RECORDINGS, `${recording.head.executor}-${name}.jsonl`), toRecordingText(recording));
}
