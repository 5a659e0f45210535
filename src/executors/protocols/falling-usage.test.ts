import { describe, expect, it } from 'vitest';
import { countUsage } from '#domain/count-usage.ts';
import { AcpUsage } from './acp-usage.ts';
import { ClaudeUsage } from './claude-usage.ts';
import { CodexUsage } from './codex-usage.ts';
import { ScriptSession } from './script-session.ts';

/** What one run is said to have used, in each protocol: it takes a report of a total. */
interface Reporter {
  say(amount: number): void;
  count(): {
    readonly usd: number | null;
    readonly tokens: number | null;
    readonly refused: string | undefined;
  };
}

type Total = { total(): Parameters<typeof countUsage>[0] };

function counting(usage: Total): Reporter['count'] {
  return () => {
    const said = usage.total();
    const { cost_usd, input_tokens } = countUsage(said, { before_usd: 0, findPrice: () => undefined });
    return { usd: cost_usd, tokens: input_tokens, refused: said.refused };
  };
}

const toTotal = (inputTokens: number) => ({ total: { inputTokens, outputTokens: 0 } });

function reportCodex(turn: 'own' | 'another thread'): Reporter {
  const usage = new CodexUsage({ resumed: false });
  usage.beginTurn();
  const of = { thread: 'a', own: turn === 'own' };
  if (turn !== 'own') usage.note({ ...toTotal(0), last: toTotal(0).total }, of);
  return { say: (amount) => void usage.note(toTotal(amount), of), count: counting(usage) };
}

const REPORTERS: Readonly<Record<string, () => Reporter>> = {
  'the cost of Claude': () => {
    const usage = new ClaudeUsage();
    return { say: (total_cost_usd) => usage.noteResult({ total_cost_usd }), count: counting(usage) };
  },
  'the cost of an ACP agent': () => {
    const usage = new AcpUsage({ resumed: false, counts: 'unclear', model: undefined });
    usage.beginTurn();
    const say = (amount: number): void =>
      usage.noteUpdate({ sessionUpdate: 'usage_update', cost: { amount, currency: 'USD' } });
    return { say, count: counting(usage) };
  },
  'the books of an ACP agent': () => {
    const books = { input: 0, output: 0, cached: 0, cost_usd: 0 };
    const readBooks = () => ({ ...books });
    const usage = new AcpUsage({ resumed: false, counts: 'last_request', model: undefined, readBooks });
    usage.openSession('s');
    usage.beginTurn();
    const say = (amount: number): void => {
      Object.assign(books, { input: amount, cost_usd: amount });
      usage.total();
    };
    return { say, count: counting(usage) };
  },
  'the tokens of Codex': () => reportCodex('own'),
  'the tokens of a helper of Codex': () => reportCodex('another thread'),
  'the usage of a script': () => {
    const session = new ScriptSession({ steps: [], clock: { now: () => 0 } });
    const say = (amount: number): void =>
      void session.take(JSON.stringify({ usage: { cost_usd: amount, input_tokens: amount } }));
    return { say, count: counting({ total: () => session.report().usage }) };
  },
};

describe.each(Object.entries(REPORTERS))('[S2-F8] %s', (_name, open) => {
  it.each([
    ['grows', [10, 25], 25],
    ['that falls to nothing, over and over, is added', [19, 0, 19, 0, 19, 0], 57],
    ['that begins anew is added', [19, 4, 6], 25],
  ])('%s', (_how, said, sum) => {
    const reporter = open();
    for (const amount of said) reporter.say(amount);
    const { usd, tokens } = reporter.count();
    expect([usd, tokens].filter((one) => one !== null)).toContain(sum);
    expect([usd, tokens].every((one) => one === null || one === sum)).toBe(true);
  });

  it.each([1e300, 1e15, -5])('of %d is refused, told, and counts for nothing', (amount) => {
    const reporter = open();
    reporter.say(10);
    reporter.say(amount);
    const { usd, tokens, refused } = reporter.count();
    expect([usd, tokens].every((one) => one === null || one === 10)).toBe(true);
    expect(refused).toMatch(new RegExp(`^${String(amount).replace('+', '[+]')} (?:USD|tokens)$`));
  });
});

describe('[S2-F8] a turn of Claude', () => {
  const message = (input_tokens: number) => ({ id: 'a', usage: { input_tokens, output_tokens: 1_000 } });

  it('counts for no less than its messages said', () => {
    const usage = new ClaudeUsage();
    usage.noteMessage(message(90_000));
    usage.noteMessage(message(0));
    expect(usage.total()).toMatchObject({ input_tokens: 90_000 });
    usage.noteResult({ usage: { input_tokens: 0, output_tokens: 0 }, total_cost_usd: 0 });
    const tokens = { input_tokens: 90_000, output_tokens: 1_000, cached_tokens: 0 };
    // A result that counts nothing has a cost without them.
    expect(usage.total()).toMatchObject({ ...tokens, since_cost: tokens });
  });

  it('that does not say what it cost is estimated with those after it', () => {
    const usage = new ClaudeUsage();
    usage.noteResult({ usage: { input_tokens: 5, output_tokens: 5 }, total_cost_usd: 1 });
    usage.noteResult({ usage: { input_tokens: 70, output_tokens: 7 } });
    usage.noteMessage(message(20));
    expect(usage.total()).toMatchObject({ cost: { usd: 1 }, since_cost: { input_tokens: 90 } });
    usage.noteResult({ usage: { input_tokens: 20, output_tokens: 7 }, total_cost_usd: 2 });
    expect(usage.total()).toMatchObject({ cost: { usd: 2 }, since_cost: null });
  });
});

describe('[S2-F8] a thread of Codex', () => {
  const last = (inputTokens: number) => ({ last: { inputTokens, outputTokens: 0 } });
  const own = { thread: 'a', own: true };

  it('had before what it said before the first turn, and no later report says otherwise', () => {
    const usage = new CodexUsage({ resumed: true });
    usage.note(toTotal(500), own);
    expect(usage.total().input_tokens).toBeNull();
    usage.beginTurn();
    usage.note(toTotal(1_500), own);
    usage.note(toTotal(1_500), own);
    expect(usage.total().input_tokens).toBe(1_000);
  });

  it('had before what it said first, also where no turn is said to have begun', () => {
    const usage = new CodexUsage({ resumed: true });
    for (const total of [500, 1_500]) usage.note(toTotal(total), own);
    expect(usage.total().input_tokens).toBe(1_000);
  });

  it('that is new had nothing before', () => {
    const usage = new CodexUsage({ resumed: false });
    usage.note({ ...toTotal(1_000_000), ...last(1_000) }, own);
    expect(usage.total().input_tokens).toBe(1_000_000);
  });

  it('that is gone on with without a word had all but its last request before', () => {
    const usage = new CodexUsage({ resumed: true });
    usage.beginTurn();
    usage.note({ ...toTotal(1_000_000), ...last(1_000) }, own);
    expect(usage.total().input_tokens).toBe(1_000);
  });
});

describe('[S2-F8] an ACP agent', () => {
  const cost = (amount: number) => ({ sessionUpdate: 'usage_update', cost: { amount, currency: 'USD' } });

  it('tells history before its first turn, in which nothing falls', () => {
    const usage = new AcpUsage({ resumed: true, counts: 'unclear', model: undefined });
    for (const amount of [5, 2]) usage.noteUpdate(cost(amount));
    usage.beginTurn();
    usage.noteUpdate(cost(3));
    expect(usage.total().cost).toEqual({ usd: 3, of: 'session' });
  });

  it('that takes its books away has used what they said', () => {
    let books: { input: number; output: number; cached: number; cost_usd: number } | undefined;
    const readBooks = () => books;
    const usage = new AcpUsage({ resumed: false, counts: 'last_request', model: undefined, readBooks });
    usage.openSession('s');
    usage.beginTurn();
    books = { input: 70, output: 7, cached: 0, cost_usd: 2 };
    usage.total();
    books = undefined;
    expect(usage.total()).toMatchObject({ input_tokens: 70, cost: { usd: 2, of: 'session' } });
  });
});
