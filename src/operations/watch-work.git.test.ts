import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { SideWishes } from '#engine/sides.ts';
import { workTask } from '#engine/work-task.ts';
import { systemClock } from '#kernel/clock.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import type { OperationContext, Screen } from './operation.ts';
import { watchWork } from './watch-work.ts';

let temp: TempWorkshop;

beforeAll(async () => {
  temp = await tempWorkshop();
  temp.addAgent('ada', 'echo reading; echo new > "$FORGE_TASK_ID.txt"');
});

afterAll(() => temp[Symbol.asyncDispose]());

/** What one task shows on the way, with a terminal or without. */
async function watch(
  screen: 'output' | 'beside' | undefined,
  {
    rest_ms,
    note,
    attempts,
  }: { readonly rest_ms?: number; readonly note?: string; readonly attempts?: SideWishes } = {},
) {
  const told = { progress: [] as string[], notices: [] as string[], pictures: [] as string[], closed: 0 };
  const open: Screen = {
    is_output: screen === 'output',
    show: (render) => void told.pictures.push(render({ columns: 100, rows: 24, color: false }).join('\n')),
    close: () => void (told.closed += 1),
  };
  const host = {
    progress: (line: string) => void told.progress.push(line),
    notice: (line: string) => void told.notices.push(line),
    openScreen: async () => (screen === undefined ? undefined : open),
  };
  // Only what is used of it.
  const ctx = { clock: systemClock, host } as unknown as OperationContext;
  const stop = await watchWork(ctx, temp.workshop, { clock_ms: 5, rest_ms });
  const task = await temp.create('Add \u001b[2Ja thing', { steps: ['true'] });
  if (note !== undefined) temp.place.watch({ kind: 'note', task_id: task.id, text: note });
  if (attempts === undefined) await temp.work(task, 'ada');
  else await workTask(temp.workshop, temp.as(), { id: task.id, agent: 'ada', merge: false, attempts });
  if (rest_ms !== undefined) await vi.waitUntil(() => told.progress.length > 0);
  const before = told.progress.length;
  stop();
  return { ...told, id: task.id, before };
}

test('without a terminal: a line for each step', async () => {
  const { progress, pictures, id } = await watch(undefined);
  expect(pictures).toEqual([]);
  expect(progress.map((line) => line.replace(/ in \/.*/, '').replace(/attempt \S+/, 'attempt'))).toEqual([
    `${id}  attempt`,
    `${id}  ada (coder) scheduled`,
    `${id}  ada (coder) running`,
    `${id}  ada (coder) completed`,
    `${id}  review running`,
    `${id}  check true: passed`,
    `${id}  review passed`,
  ]);
});

test('on a terminal: a picture, and a line when a task has ended', async () => {
  const { progress, pictures, closed, before, id } = await watch('output');
  expect(before).toBe(0);
  expect(progress.map((line) => line.replace(/(?<=\s)\d+s\b/g, '_s'))).toEqual([
    `${id}  passed (ada, _s)  Add \\u001b[2Ja thing`,
    '1 done, _s',
  ]);
  expect(pictures.some((text) => text.startsWith(`${id}  working   ada`))).toBe(true);
  expect(pictures.some((text) => text.includes('Add \\u001b[2Ja thing  reading'))).toBe(true);
  expect(closed).toBe(1);
});

test('what somebody should know stays in sight', async () => {
  const { progress } = await watch('output', { note: 'Your checkout has changed' });
  expect(progress[0]).toMatch(/Your checkout has changed$/);
});

test('a task that nobody works on any more leaves the picture', async () => {
  const { before, progress, pictures } = await watch('output', { rest_ms: 1 });
  expect(before).toBeGreaterThan(0);
  expect(progress.at(-1)).toMatch(/^1 done/);
  expect(pictures.at(-1)).toMatch(/^1 done/);
});

test('output that goes elsewhere is told as ever, with the picture beside it', async () => {
  const { progress, notices, pictures } = await watch('beside');
  expect(progress).toHaveLength(7);
  expect(pictures.length).toBeGreaterThan(0);
  expect(notices.at(-1)).toMatch(/^1 done/);
});

test('attempts side by side have a line each, with the number of each', async () => {
  temp.addAgent('bob', 'echo writing; printf "1\\n2\\n" > "$FORGE_TASK_ID.txt"');
  const attempts = { agents: ['bob', 'ada'], count: 2, pick: 'smallest_green' } as const;
  const { progress, pictures, id } = await watch('output', { attempts });
  expect(pictures.some((text) => text.includes(`${id} #1  `) && text.includes(`${id} #2  `))).toBe(true);
  for (const said of [/ #1 .* bob .* writing$/m, / #2 .* ada .* reading$/m])
    expect(pictures.some((text) => said.test(text))).toBe(true);
  // They are one task.
  expect(pictures.some((text) => text.includes('2 at work'))).toBe(false);
  expect(progress.map((line) => line.replace(/(?<=\s)\d+s\b/g, '_s'))).toEqual([
    `${id} #1  archived (bob, _s)  Add \\u001b[2Ja thing`,
    `${id} #2  passed (ada, _s)  Add \\u001b[2Ja thing`,
    '1 done, _s',
  ]);
});
