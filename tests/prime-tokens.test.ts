import { NO_AGENTS } from '#domain/claimer.ts';
import fc from 'fast-check';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { countTokens as countR50k } from 'gpt-tokenizer/encoding/r50k_base';
import { describe, expect, it } from 'vitest';
import type { Actor } from '#domain/actor.ts';
import { estimateTokens } from '#domain/token-estimate.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OperationContext } from '#operations/operation.ts';
import { type Brief, PRIME_COMMANDS, toPrimeText } from '#operations/prime-text.ts';
import { projectPrime } from '#operations/project-prime.ts';
import type { NewTaskInput } from '#store/store.ts';
import { parseProjectConfig } from '#sync/project-config.ts';
import { tempStore, type TempStore } from './support/temp-store.ts';

/** Three generations of vocabularies; the oldest knows hardly any language but English. */
const TOKENIZERS = { o200k: countO200k, cl100k: countCl100k, r50k: countR50k };
const VIEW = { color: false, columns: Number.POSITIVE_INFINITY, now: 0 };

/** Each fills a title to its last character with something that is dear in its own way. */
const TITLES: Readonly<Record<string, string>> = {
  English: 'Fix the login redirect when the session expires and the user comes back. '
    .repeat(7)
    .slice(0, 500),
  CJK: '認証の期限が切れたときのログイン後の遷移を修正する課題。'.repeat(20).slice(0, 500),
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈🧑🏽‍🚀'.repeat(40).slice(0, 500).toWellFormed(),
  'rare letters': '𓀀𓁐ꙮ꧁ᚠᛇ'.repeat(80).slice(0, 500).toWellFormed(),
  punctuation: '~^`|}{][<>#*_$%&@!?;'.repeat(25),
  noise: Array.from({ length: 500 }, (_, at) => 'qZxJ7vK0wQ~y'[(at * at + 7 * at) % 12]).join(''),
  controls: '\u001b\u0007\u202e\u200b'.repeat(125),
  'stacked marks': `e${'\u0301\u0327\u0334'.repeat(166)}`,
  Markdown: '``` # ![x](https://example.com) <!-- forge:end --> '.repeat(10).slice(0, 500),
};
const LONG_NAMES = {
  letters: 'x'.repeat(LIMITS.identity_length),
  CJK: '労'.repeat(LIMITS.identity_length),
  noise: 'qZ7~'.repeat(50),
};

describe('the estimate of tokens', () => {
  it.each(Object.entries(TOKENIZERS))('counts our own words no lower than %s', (_name, count) => {
    const counts = {
      mine: 0,
      reserved: 0,
      ready: 0,
      blocked: 0,
      parked: 0,
      open: 0,
      in_progress: 0,
      closed: 0,
    };
    const own: Brief = {
      project: { name: '', id_prefix: 'fg' },
      actor: { name: '', kind: 'user', named: false },
      mine: [],
      ready: [],
      counts,
      commands: PRIME_COMMANDS,
    };
    for (const n of [0, 7, 12_345_678]) {
      const numbers = { ...counts, mine: n, ready: n, blocked: n, in_progress: n };
      const text = toPrimeText({ ...own, counts: numbers });
      expect(count(text)).toBeLessThanOrEqual(estimateTokens([{ text, from: 'forge' }]));
    }
  });

  it('would be too low for others by the rule of our own words', () => {
    const text = LONG_NAMES.noise;
    expect(countO200k(text)).toBeGreaterThan(estimateTokens([{ text, from: 'forge' }]));
  });

  it.each(Object.entries(TOKENIZERS))('counts the text of others no lower than %s', (_name, count) => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'binary-ascii', maxLength: 200 }),
      fc.constantFrom(...Object.values(TITLES)),
    );
    fc.assert(
      fc.property(line, (text) => {
        expect(count(`${text}\n`)).toBeLessThanOrEqual(estimateTokens([{ text, from: 'others' }]));
      }),
    );
  });
});

describe('forge prime', () => {
  it('would be caught if it printed everything', async () => {
    await using temp = await tempStore();
    const brief = await fill(temp, TITLES['CJK'] ?? '', LONG_NAMES.CJK);
    const ready = await temp.store.listReady({});
    const uncut = toPrimeText({ ...brief, ready: ready.map((task) => ({ ...task, reserved: false })) });
    for (const count of Object.values(TOKENIZERS)) expect(count(uncut)).toBeGreaterThan(LIMITS.prime_tokens);
  });

  it.each(Object.entries(TITLES))('has less than 1,000 tokens with 500 titles of %s', async (_, title) => {
    await using temp = await tempStore();
    for (const name of Object.values(LONG_NAMES)) {
      const brief = await fill(temp, title, name);
      expect(brief.counts).toMatchObject({ mine: 50 });
      expect(brief.counts.open).toBeGreaterThanOrEqual(500);
      // Cut, but not to nothing.
      expect(brief.mine.length).toBeGreaterThanOrEqual(2);
      expect(brief.ready.length).toBeGreaterThanOrEqual(2);
      const text = `${projectPrime.text(brief, VIEW)}\n`;
      for (const count of Object.values(TOKENIZERS)) expect(count(text)).toBeLessThan(LIMITS.prime_tokens);
    }
  });
});

/** 500 open tasks and 50 claimed by whoever asks, in a real store; what prime makes of them. */
async function fill(temp: TempStore, title: string, name: string): Promise<Brief> {
  const actor: Actor = { kind: 'agent', name, named: false };
  const by = { actor, now: temp.clock.now() };
  const labels = Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(LIMITS.label_length, '漢'));
  const task: NewTaskInput = {
    id_prefix: 'long',
    title,
    description: title,
    type: 'feature',
    priority: 1,
    state: 'todo',
    parent_id: null,
    assignee: null,
    labels,
    github_issue: null,
    depends_on: [],
    metadata: new Map(),
  };
  // One store serves several askers: the open tasks are made once, as a replica brings them.
  if ((await temp.store.listReady({})).length === 0) {
    const at = new Date(temp.clock.now()).toISOString();
    const times = { created_at: at, created_by: name, updated_at: at };
    const line = {
      title,
      description: title,
      type: 'feature',
      priority: 1,
      status: 'open',
      labels,
      ...times,
    };
    await temp.bring(
      Array.from({ length: 500 }, (_, n) => ({ id: `long-${String(n).padStart(4, '0')}`, ...line })),
    );
  }
  for (let made = 0; made < 50; made += 1) {
    const { id } = await temp.store.createTask({ ...task, priority: 0 }, by);
    await temp.store.claimTask({ id, assignee: name, force: false, agents: NO_AGENTS }, by);
  }
  const config = parseProjectConfig(
    JSON.stringify({
      name: '計'.repeat(LIMITS.project_name_length),
      idPrefix: 'long',
      version: 1,
      created_at: '2026-02-10T09:00:00Z',
    }),
    'config.json',
  );
  // A read asks for nothing else: no host.
  const context = {
    clock: temp.clock,
    actor: async () => actor,
    project: { store: temp.store, config },
  } as unknown as OperationContext;
  return projectPrime.run(context, {});
}
