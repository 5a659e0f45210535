import { describe, expect, it } from 'vitest';
import { exportLines, fold, shareLines } from '../../../tests/support/fold-lines.ts';
import { MISSING_KEPT } from '../fold/missing-lines.ts';
import { by, create } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';

/** What a file showed of tasks that it lacks now. */
export function describeMissingLines(open: OpenSync): void {
  describe('[D1] a file that lacks tasks at one look, and has them without stamps at the next', () => {
    it.each([
      ['few', 3, []],
      ['as many as are kept one by one', MISSING_KEPT, []],
      ['more than that', MISSING_KEPT + 1, []],
    ])('takes back nothing that was written by commands: %s', async (_name, count, told) => {
      await using temp = await open();
      const tasks = [];
      for (let at = 0; at < count; at += 1) tasks.push(await create(temp, `Task ${at}`));
      const [first, second] = tasks;
      const lines = withoutStamps(await shareLines(temp));
      await write(temp, first?.id ?? '');
      const updated_at = new Date(temp.clock.now()).toISOString();
      await fold(temp, []);
      await fold(
        temp,
        lines.map((line) =>
          'id' in line && line.id === second?.id ? { ...line, priority: 0, updated_at } : line,
        ),
      );
      expect(await temp.store.getTask(first?.id ?? '')).toMatchObject({ title: 'Renamed', labels: ['kept'] });
      expect(await temp.store.getTask(second?.id ?? '')).toMatchObject({ priority: 0 });
      expect((await temp.store.listConflicts(undefined)).map(({ name }) => name)).toEqual(told);
    });

    it('counts what Forge wrote into the file as what it showed, not what a line showed before that', async () => {
      await using temp = await open();
      const { id } = await create(temp, 'One');
      await shareLines(temp);
      await fold(temp, [{ ...withoutStamps(await exportLines(temp))[0], description: 'first' }]);
      await write(temp, id);
      const lines = withoutStamps(await shareLines(temp));
      await fold(temp, []);
      temp.clock.advance(5_000);
      await temp.store.updateTask({ id, description: 'second' }, by(temp));
      await fold(temp, lines);
      expect(await temp.store.getTask(id)).toMatchObject({
        title: 'Renamed',
        labels: ['kept'],
        description: 'second',
      });
    });

    it('still counts as edited what differs from what it showed before', async () => {
      await using temp = await open();
      const { id } = await create(temp, 'One');
      const [line] = withoutStamps(await shareLines(temp));
      await write(temp, id);
      await fold(temp, []);
      await fold(temp, [{ ...line, description: 'by a script' }]);
      expect(await temp.store.getTask(id)).toMatchObject({ title: 'Renamed', description: 'by a script' });
    });

    it('keeps what it knows through several looks', async () => {
      await using temp = await open();
      const { id } = await create(temp, 'One');
      const lines = await shareLines(temp);
      const other = {
        id: 'fg-zzzz',
        title: 'Other',
        created_at: '2026-02-01T00:00:00.000Z',
        created_by: 'ann',
      };
      await fold(temp, []);
      await write(temp, id);
      await fold(temp, [{ ...other, status: 'open' }]);
      await fold(temp, [{ ...other, status: 'open', title: 'Another' }]);
      await fold(temp, withoutStamps(lines));
      expect(await temp.store.getTask(id)).toMatchObject({ title: 'Renamed', labels: ['kept'] });
    });
  });
}

/** The lines as a tool writes them that knows nothing of stamps. */
function withoutStamps(lines: readonly string[]): object[] {
  return lines.map((line) => {
    const { _v, ...plain } = JSON.parse(line) as Record<string, unknown>;
    return plain;
  });
}

async function write(sut: SyncUnderTest, id: string): Promise<void> {
  sut.clock.advance(5_000);
  await sut.store.updateTask({ id, title: 'Renamed', labels_add: ['kept'] }, by(sut));
}
