import { expect, it } from 'vitest';
import { exportLines, fold, shareLines } from '../../tests/support/fold-lines.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';
import { MISSING_KEPT } from './fold/missing-lines.ts';

it.each([3, MISSING_KEPT, MISSING_KEPT + 1])(
  '[D1] what a file showed of %i tasks that it lacks is kept in as many rows at most, until their lines are back',
  async (count) => {
    await using temp = await tempStore();
    for (let at = 0; at < count; at += 1) await create(temp, `Task ${at}`);
    await shareLines(temp);
    await fold(temp, []);
    expect(countRows(temp)).toBe(count > MISSING_KEPT ? 0 : count);
    await fold(temp, await exportLines(temp));
    expect(countRows(temp)).toBe(0);
  },
);

it('[D1] a line that is back, and older than its task, is remembered as what the file shows', async () => {
  await using temp = await tempStore();
  const { id } = await create(temp, 'One');
  const lines = await shareLines(temp);
  await fold(temp, []);
  await temp.store.updateTask({ id, title: 'Renamed' }, by(temp));
  await fold(temp, lines);
  expect(countRows(temp)).toBe(1);
});

function countRows(temp: TempStore): number {
  using db = temp.connect();
  return Number(db.prepare("SELECT count(*) AS n FROM shown_lines WHERE path LIKE '/%'").get()?.['n']);
}
