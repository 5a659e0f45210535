import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '#domain/count-usage.ts';
import { boardLines, endedLine, sumLine, toTime } from './board-lines.ts';
import { textWidth } from './text-width.ts';
import { createBoard, endRow, noteNews, type WorkBoard } from './work-board.ts';

const ESCAPE = '\u001b';
const SIZE = { columns: 80, rows: 24, color: false, now: 5_000 };

/** A task with news that the board can hold. */
function add(board: WorkBoard, id: string, { title = 'Add a thing', line = 'reading' } = {}): void {
  noteNews(board, { kind: 'note', task_id: id, text: line }, 1_000);
  const row = board.rows.get(id);
  if (row === undefined) throw new Error('no row');
  row.title = title;
  row.agent = 'ada';
}

function boardOf(count: number): WorkBoard {
  const board = createBoard(0);
  for (let at = 0; at < count; at += 1) add(board, `fg-${String(at).padStart(4, '0')}`);
  return board;
}

describe('the picture of work', () => {
  test('a task is a line: id, stage, agent, time, title, what was said last', () => {
    expect(boardLines(boardOf(1), SIZE)).toEqual([
      'fg-0000  starting  ada       4s  Add a thing  reading',
      '1 at work, 5s',
    ]);
  });

  test('fifty tasks on 24 rows are folded, and those that ask are not', () => {
    const board = boardOf(50);
    const last = board.rows.get('fg-0049');
    if (last !== undefined) last.stage = 'asking';
    const lines = boardLines(board, SIZE);
    expect(lines).toHaveLength(21);
    expect(lines[0]).toContain('fg-0049  asking');
    expect(lines.at(-2)).toBe('… and 31 more');
    expect(lines.at(-1)).toBe('50 at work, 5s');
  });

  test.each([1, 2, 7, 20, 40, 59, 60, 80, 133])('no line is wider than %i columns', (columns) => {
    const board = boardOf(30);
    add(board, 'fg-wide', { title: '修复登录页面的崩溃问题'.repeat(5), line: '👩‍👩‍👧 漢字 '.repeat(30) });
    add(board, 'fg-evil', { title: `${ESCAPE}[2J\u202ereversed\u0007`, line: `${ESCAPE}]0;title\u0007\tx` });
    for (const color of [false, true])
      for (const line of boardLines(board, { ...SIZE, columns, color })) {
        // The colours are ours alone: all that is left without them is printable.
        const plain = line.replaceAll(/\u001b\[\d+m/g, '');
        expect(textWidth(plain)).toBeLessThanOrEqual(columns);
        expect(plain).not.toMatch(/[\p{Cc}\u202e]/u);
      }
  });

  test('[D3] what is asked for is shown whole, in as many lines as it takes', () => {
    const board = boardOf(2);
    const row = board.rows.get('fg-0001');
    if (row === undefined) throw new Error('no row');
    row.stage = 'asking';
    row.line = 'forge runs approve 1f6ae3b0';
    row.request = `Bash: npm test -- ${Array.from({ length: 20 }, (_, at) => `--flag-${at}`).join(' ')} ${ESCAPE}[2J`;
    const [first, ...lines] = boardLines(board, { ...SIZE, columns: 60 });
    expect(first).toContain('fg-0001  asking');
    const asked = lines.slice(0, -2);
    expect(asked.map((line) => line.trim()).join(' ')).toBe(row.request.replace(ESCAPE, '\\u001b'));
    for (const line of asked) expect(textWidth(line)).toBeLessThanOrEqual(60);
    expect(boardLines(board, { ...SIZE, columns: 20, rows: 10 }).join('\n')).toContain('(forge inbox');
  });

  test('a terminal of three rows still shows the sum', () => {
    expect(boardLines(boardOf(5), { ...SIZE, rows: 3 })).toEqual(['… and 5 more', '5 at work, 5s']);
  });

  test('what was spent is told of the task and of all', () => {
    const board = boardOf(2);
    const usage = { ...NO_USAGE, input_tokens: 12_000, output_tokens: 300, cost_usd: 0.04 };
    for (const row of board.rows.values()) row.usage.set('one', usage);
    expect(boardLines(board, SIZE)).toEqual([
      'fg-0000  starting  ada       4s  12.3k tok $0.04  Add a thing  reading',
      'fg-0001  starting  ada       4s  12.3k tok $0.04  Add a thing  reading',
      '2 at work, 5s, 24.6k tok $0.08',
    ]);
  });

  test.each([
    [{ cost_usd: 0.04, cost_source: 'estimated' }, '12.0k tok ~$0.04'],
    [{ cost_usd: null }, '12.0k tok cost unknown'],
  ] as const)('[A12] a cost that nobody said is told apart: %o', (usage, spent) => {
    const board = boardOf(1);
    for (const row of board.rows.values())
      row.usage.set('one', { ...NO_USAGE, input_tokens: 12_000, ...usage });
    expect(boardLines(board, SIZE)[0]).toContain(spent);
    for (const row of board.rows.values())
      row.usage.set('two', { ...NO_USAGE, input_tokens: 0, cost_usd: 1, cost_source: 'reported' });
    expect(boardLines(board, SIZE)[0]).toContain(usage.cost_usd === null ? '$1.00 + unknown' : '~$1.04');
  });

  test('the recording in docs is what is drawn', () => {
    const board = createBoard(0);
    const usage = (input_tokens: number, cost_usd: number) =>
      new Map([['one', { ...NO_USAGE, input_tokens, output_tokens: 0, cost_usd }]]);
    const rows = [
      ['fg-r2wv', 'merged', 'bob', 0, 'Design the orders table', 'on main', usage(10_110, 0.05)],
      ['fg-vqjk', 'checking', 'ada', 0, 'Fix the crash on an empty cart', '', usage(11_910, 0.06)],
      ['fg-onst', 'working', 'bob', 7_000, 'Answer GET /orders', 'A list, newest first.', new Map()],
    ] as const;
    for (const [id, stage, agent, since, title, line, spent] of rows)
      board.rows.set(id, { id, stage, agent, since, heard_at: 0, title, line, usage: spent });
    const drawn = boardLines(board, { ...SIZE, columns: 100, now: 7_100 }).join('\n');
    const recorded = readFileSync(new URL('../../docs/run.txt', import.meta.url), 'utf8');
    expect(recorded).toContain(`\n${drawn}\n---`);
  });

  test('a task that has ended is a plain line, whatever its title', () => {
    const board = boardOf(2);
    const [good, bad] = [...board.rows.values()];
    if (good === undefined || bad === undefined) throw new Error('no rows');
    good.stage = 'merged';
    bad.stage = 'failed';
    bad.title = `${ESCAPE}[2Jx`;
    good.heard_at = bad.heard_at = 3_500;
    expect([good, bad].map(endedLine)).toEqual([
      'fg-0000  merged (ada, 2s)  Add a thing',
      'fg-0001  failed (ada, 2s)  \\u001b[2Jx: reading',
    ]);
    endRow(board, good);
    endRow(board, bad);
    expect(sumLine(board, 65_000)).toBe('1 done, 1 not done, 1:05');
  });

  test('times', () => {
    expect([0, 59_999, 60_000, 3_599_000, 3_600_000, 90_061_000, -5].map(toTime)).toEqual([
      '0s',
      '59s',
      '1:00',
      '59:59',
      '1:00:00',
      '25:01:01',
      '0s',
    ]);
  });
});
