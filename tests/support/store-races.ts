import { expect } from 'vitest';
import { raceWorkers } from './store-workers.ts';
import { tempStore, type TempStore } from './temp-store.ts';

type Said = readonly Record<string, unknown>[];

/** So many processes take a task and make one, all at the same moment, and each of them gets through. */
export async function expectAllServed(count: number): Promise<void> {
  await using temp = await tempStore();
  const open = count / 2;
  await fillStore(temp, open);
  const said = await raceWorkers(temp.folder, count, ['claim and create']);
  expect(said.map(errors)).toEqual(said.map(() => []));
  const claimed = said.flatMap((one) => values(one, 'claimed'));
  expect(claimed.length).toBeGreaterThanOrEqual(open);
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(said.flatMap((one) => values(one, 'created'))).toHaveLength(count);
  expect(await temp.store.listTasks({})).toHaveLength(open + count);
}

/** Tasks as a replica brings them, which is quicker than to create them. */
export async function fillStore(temp: TempStore, count: number): Promise<void> {
  await temp.bring(Array.from({ length: count }, (_, i) => toTaskLine(`fg-${String(i).padStart(4, '0')}`)));
}

export function toTaskLine(id: string) {
  const now = '2026-01-01T00:00:00.000Z';
  return { id, title: id, status: 'open', created_at: now, created_by: 'test', updated_at: now };
}

export function values(said: Said, key: string): unknown[] {
  return said.flatMap((one) => (key in one ? [one[key]] : []));
}

export function errors(said: Said): unknown[] {
  return values(said, 'error');
}
