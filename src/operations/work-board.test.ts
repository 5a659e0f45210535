import { expect, test } from 'vitest';
import type { Attempt, Merge, Review, Run } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import type { WorkNews } from '#engine/work.ts';
import { createBoard, endRow, noteNews, sumUsage, type WorkBoard } from './work-board.ts';
import { createNewsLines } from './worked-text.ts';

// Only what the board reads of each row is there.
const run = (more: Partial<Run> = {}): Run =>
  ({
    id: '1f6ae3b0-aaaa',
    task_id: 'fg-1',
    agent: 'ada',
    state: 'running',
    outcome: null,
    message: null,
    usage: NO_USAGE,
    ...more,
  }) as Run;
const say = (entry: TranscriptEntry): WorkNews => ({ kind: 'entry', run: run(), entry });
const move = (more: Partial<Run>): WorkNews => ({ kind: 'run', run: run(more) });
const review = (status: Review['status']): WorkNews => ({
  kind: 'review',
  review: { task_id: 'fg-1', status, step_results: [] as Review['step_results'] } as Review,
});
const merge = (state: Merge['state'], message: string | null = null): WorkNews => ({
  kind: 'merge',
  merge: { task_id: 'fg-1', target: 'main', state, message } as Merge,
});
const attempt = (state: Attempt['state']): WorkNews => ({
  kind: 'attempt',
  attempt: { task_id: 'fg-1', agent: 'ada', state } as Attempt,
});

function after(...news: readonly WorkNews[]): { stage: string; line: string } {
  const board = createBoard(0);
  for (const one of news) noteNews(board, one, 1);
  return pick(board);
}

function pick(board: WorkBoard): { stage: string; line: string } {
  const row = board.rows.get('fg-1');
  if (row === undefined) throw new Error('no row');
  return { stage: row.stage, line: row.line };
}

test('the stages of a task, in the order of its news', () => {
  const board = createBoard(0);
  const news = [
    attempt('active'),
    move({ state: 'scheduled' }),
    move({}),
    say({ kind: 'message', role: 'agent', text: 'First.\nThen the tests.\n\n' }),
    say({ kind: 'approval', id: '1', tool: 'bash', decision: 'asked' }),
    say({ kind: 'approval', id: '1', tool: 'bash', decision: 'allowed' }),
    move({ state: 'completed' }),
    review('running'),
    { kind: 'step', task_id: 'fg-1', attempt_id: 'a1', text: 'ok 1\nok 2' } as const,
    review('passed'),
    merge('queued'),
    merge('started'),
    merge('landed'),
  ];
  const seen = news.map((one) => {
    noteNews(board, one, 1);
    const { stage, line } = pick(board);
    return `${stage}: ${line}`;
  });
  expect(seen).toEqual([
    'starting: ',
    'starting: ',
    'working: ',
    'working: Then the tests.',
    'asking: forge runs approve 1f6ae3b0',
    'working: leave for bash: allowed',
    'done: leave for bash: allowed',
    'checking: ',
    'checking: ok 2',
    'passed: ',
    'queued: to main',
    'merging: to main',
    'merged: on main',
  ]);
});

test('what goes wrong', () => {
  expect(after(move({ state: 'failed', message: 'exit 1' }))).toEqual({ stage: 'failed', line: 'exit 1' });
  expect(after(move({ state: 'failed', outcome: 'stopped', message: 'Forge was stopped' })).stage).toBe(
    'stopped',
  );
  expect(after(review('failed')).stage).toBe('failed');
  expect(after(merge('conflict', 'conflicts in a.txt'))).toEqual({
    stage: 'failed',
    line: 'conflicts in a.txt',
  });
});

test('a long text is looked at from its end, without the colours a program wrote', () => {
  const text = `${'x'.repeat(1_000_000)}\n\u001b[31mred\u001b[0m\r\n`;
  expect(after(say({ kind: 'output', stream: 'stdout', text })).line).toBe('red');
  const long = say({ kind: 'tool_call', id: '1', tool: 'write', input: { text: 'y'.repeat(100_000) } });
  expect(after(long).line).toMatch(/^write \{"text":"y{900}/);
  expect(after(long).line).toHaveLength(1_000);
});

test('usage of a run replaces what it said before; runs are added up', () => {
  const board = createBoard(0);
  const usage = { ...NO_USAGE, input_tokens: 10, cost_usd: 0.5 };
  noteNews(board, say({ kind: 'usage', usage }), 1);
  noteNews(board, move({ state: 'completed', usage: { ...usage, input_tokens: 20 } }), 1);
  noteNews(board, move({ id: 'other', usage }), 1);
  const row = board.rows.get('fg-1');
  if (row === undefined) throw new Error('no row');
  expect(sumUsage(row)).toMatchObject({ tokens: 30, cost_usd: 1 });
  endRow(board, row);
  expect(board).toMatchObject({ spent: { tokens: 30, cost_usd: 1 } });
  // Its folder is put away later; that is no new row.
  expect(noteNews(board, attempt('merged'), 2)).toBeUndefined();
  expect(board.rows.size).toBe(0);
  expect(noteNews(board, move({}), 3)).toBe('fg-1');
});

test('attempts side by side have a row each, whatever of them is heard first', () => {
  const board = createBoard(0);
  const of = (id: string, number: number, state: Attempt['state'] = 'active'): WorkNews => ({
    kind: 'attempt',
    attempt: { id, number, task_id: 'fg-1', agent: 'ada', state } as Attempt,
  });
  const note = (text: string, attempt_id?: string): WorkNews => ({
    kind: 'note',
    task_id: 'fg-1',
    text,
    ...(attempt_id !== undefined && { attempt_id }),
  });
  const shown = (): string[] =>
    [...board.rows.values()].map((row) => `${row.number} ${row.stage} ${row.agent}: ${row.line}`);
  const usage = { ...NO_USAGE, cost_usd: 0.5 };
  const news = [
    note('about all'),
    of('a1', 1),
    of('a2', 2),
    move({ id: 'r1', attempt_id: 'a1', agent: 'bob', usage }),
    move({ id: 'r2', attempt_id: 'a2', agent: 'eve', usage }),
    note('left its branch', 'a2'),
    { kind: 'step', task_id: 'fg-1', attempt_id: 'a2', text: 'ok' } as const,
    note('for both'),
  ];
  expect(news.map((one) => noteNews(board, one, 1))).toEqual([
    'fg-1',
    undefined,
    'fg-1',
    ...Array.from({ length: 5 }, () => undefined),
  ]);
  expect(shown()).toEqual(['1 working bob: for both', '2 working eve: ok']);
  noteNews(board, move({ id: 'r2', attempt_id: 'a2', agent: 'eve', state: 'completed', usage }), 1);
  noteNews(board, of('a1', 1, 'archived'), 1);
  expect(shown()).toEqual(['1 archived bob: for both', '2 done eve: ok']);
  for (const row of [...board.rows.values()].toReversed()) endRow(board, row);
  expect(board).toMatchObject({ spent: { cost_usd: 1 }, ended: new Map([['fg-1', 'done']]) });
  // One whose others have left stays one of several; a task that had only one never was.
  noteNews(board, merge('landed'), 2);
  expect([...board.rows.values()].map(({ is_side }) => is_side)).toEqual([undefined]);
});

test('line by line too, what waits for an answer is told with the command that gives it', () => {
  const toLine = createNewsLines();
  const asked = { kind: 'approval', id: 'a1', tool: 'Write x', decision: 'asked' } as const;
  expect(toLine({ kind: 'entry', run: run({ role: 'coder' }), entry: asked })).toBe(
    'fg-1  ada (coder) asks for Write x -- forge runs approve 1f6ae3b0',
  );
  expect(toLine(say({ kind: 'message', role: 'agent', text: 'I work' }))).toBeUndefined();
});
