import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { exportLines, fold, shareLines, toRequest } from '../../../tests/support/fold-lines.ts';
import { toOwnKey } from '#domain/judge-losses.ts';
import { by, claim, create, line } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';

/** What a fold tells of values that fell. */
export function describeFoldReports(open: OpenSync): void {
  describe('what somebody should hear of a fold', () => {
    it('two claims: the earlier stands, and the loser is told', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(here, 'Wanted');
      await fold(there, await shareLines(here));
      there.clock.advance(100_000);
      await claim(there, id, 'late');
      await claim(here, id, 'early');
      const report = await fold(there, await exportLines(here));
      expect(report.lost_claims).toEqual([{ id, was: 'late', now: 'early' }]);
      expect(report.conflicts).toEqual([{ id, name: 'life' }]);
      expect((await there.store.getTask(id)).assignee).toBe('early');
      // Whoever lost cannot write with the number of the lost claim.
      const fence = { id, title: 'x', fence: 1 };
      await expect(there.store.updateTask(fence, by(there, 'late'))).rejects.toMatchObject({
        code: 'fence_conflict',
      });
      expect((await fold(here, await exportLines(there))).lost_claims).toEqual([]);
      expect((await here.store.getTask(id)).assignee).toBe('early');
    });

    it('values that were not shared yet and lost, or won, against another', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(here, 'Old', { metadata: new Map([['k', 0]]) });
      await fold(there, await shareLines(here));
      await here.store.updateTask({ id, title: 'Here', metadata_set: new Map([['k', 1]]) }, by(here));
      there.clock.advance(60_000);
      await there.store.updateTask({ id, title: 'There', metadata_set: new Map([['k', 2]]) }, by(there));
      const report = await fold(here, await exportLines(there));
      expect(report.conflicts.map(({ name }) => name).toSorted()).toEqual(['metadata.k', 'title']);
      expect((await here.store.getTask(id)).title).toBe('There');
      const conflicts = await here.store.listConflicts(undefined);
      expect(conflicts.map(({ name, lost, stands }) => [name, lost, stands])).toEqual([
        ['metadata.k', 1, 2],
        ['title', 'Here', 'There'],
      ]);
    });

    it('nothing where the file brings a value that this store had once, or was written by who had seen it', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(here, 'Old');
      const old = await shareLines(here);
      await fold(there, old);
      await here.store.updateTask({ id, title: 'New' }, by(here));
      expect((await fold(here, [...old, ''])).conflicts).toEqual([]);
      await fold(there, await shareLines(here));
      there.clock.advance(60_000);
      await there.store.updateTask({ id, title: 'Newer' }, by(there));
      expect((await fold(here, await exportLines(there))).conflicts).toEqual([]);
      expect((await here.store.getTask(id)).title).toBe('Newer');
    });

    it('of a status that the history tells was seen nothing, of another the one that fell', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(here, 'Old');
      await fold(there, await shareLines(here));
      await here.store.closeTask({ id, reason: 'here' }, by(here));
      there.clock.advance(60_000);
      await there.store.claimTask({ id, assignee: 'ann', force: false, agents: NO_AGENTS }, by(there));
      await there.store.closeTask({ id, reason: 'there' }, by(there, 'ann'));
      const request = toRequest(await exportLines(there));
      const { unsure = [] } = await here.store.foldTasks({ ...request, asks: true }, by(here));
      expect(unsure).toMatchObject([{ id, name: 'life' }]);
      expect((await here.store.getTask(id)).close_reason).toBe('here');
      const seen = new Set(unsure.map(toOwnKey));
      const asked = await here.store.foldTasks({ ...request, seen, dry_run: true }, by(here));
      expect(asked.conflicts).toEqual([]);
      expect((await here.store.foldTasks(request, by(here))).conflicts).toEqual([{ id, name: 'life' }]);
      expect(await here.store.listConflicts(id)).toMatchObject([
        { name: 'life', lost: { close_reason: 'here' }, stands: { close_reason: 'there' } },
      ]);
    });

    it('a value that was exported, which whoever wrote the later one never saw', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(here, 'Old');
      await fold(there, await shareLines(here));
      await here.store.updateTask({ id, title: 'New' }, by(here));
      await shareLines(here);
      there.clock.advance(60_000);
      await there.store.updateTask({ id, title: 'Newer' }, by(there));
      await here.reopen();
      expect((await fold(here, await exportLines(there))).conflicts).toEqual([{ id, name: 'title' }]);
      expect(await here.store.listConflicts(id)).toMatchObject([{ lost: 'New', stands: 'Newer' }]);
      // Back where it came from, and again: nothing is told twice.
      await fold(there, await exportLines(here));
      await fold(here, await exportLines(there));
      expect(await here.store.listConflicts(id)).toHaveLength(1);
    });

    it('a value of a file in which two others turn out to share an id', async () => {
      await using here = await open();
      await using there = await open();
      const id = await titleApart(here, there);
      const twin = { title: 'Twin', status: 'open', created_at: '2026-02-10T08:00:00.000Z' };
      await fold(here, [JSON.stringify({ id: 'fg-twin', created_by: 'ann', ...twin })]);
      const lines = [
        ...(await exportLines(there)),
        JSON.stringify({ id: 'fg-twin', created_by: 'bob', ...twin }),
      ];
      const report = await fold(here, lines);
      expect(report.renamed).toHaveLength(1);
      expect(report.conflicts).toEqual([{ id, name: 'title' }]);
      expect(await here.store.listConflicts(id)).toMatchObject([{ lost: 'Here', stands: 'There' }]);
    });

    it('a value of a task that only the other clone has told apart from one with its id', async () => {
      await using here = await open();
      await using there = await open();
      const id = await titleApart(here, there);
      const { renamed } = await fold(there, [line(id, { title: 'Twin', created_by: 'bob' })]);
      const [{ to } = { to: '' }] = renamed;
      expect((await fold(here, await exportLines(there))).renamed).toEqual([{ from: id, to }]);
      expect(await here.store.listConflicts(to)).toMatchObject([{ lost: 'Here', stands: 'There' }]);
    });

    it('a value of a line that was edited by hand before this store had the task', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(there, 'Old');
      const lines = await shareLines(there);
      await fold(
        here,
        lines.map((line) => line.replace('"Old"', '"By hand"')),
      );
      there.clock.advance(60_000);
      await there.store.updateTask({ id, title: 'There' }, by(there));
      expect((await fold(here, await exportLines(there))).conflicts).toEqual([{ id, name: 'title' }]);
      expect(await here.store.listConflicts(id)).toMatchObject([{ lost: 'By hand', stands: 'There' }]);
    });

    it('a task that was deleted elsewhere and changed here later', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(here, 'Disputed');
      const { id: plain } = await create(here, 'Only deleted');
      await fold(there, await shareLines(here));
      for (const gone of [id, plain]) await there.store.deleteTask({ id: gone }, by(there));
      here.clock.advance(60_000);
      await here.store.updateTask({ id, title: 'Edited' }, by(here));
      const report = await fold(here, await exportLines(there));
      expect(report).toMatchObject({ deleted: 2, edited_deleted: [id] });
      expect(await here.store.listConflicts(undefined)).toMatchObject([
        { id, name: 'deleted', lost: { title: 'Edited' }, stands: null },
      ]);
      expect((await here.store.restoreTask({ id }, by(here))).title).toBe('Edited');
      expect(await here.store.listConflicts(undefined)).toEqual([]);
    });
  });
}

/** A task that both know by the same line, and to which each gives another title. */
async function titleApart(here: SyncUnderTest, there: SyncUnderTest): Promise<string> {
  const { id } = await create(here, 'Old');
  await fold(there, await shareLines(here));
  await here.store.updateTask({ id, title: 'Here' }, by(here));
  there.clock.advance(60_000);
  await there.store.updateTask({ id, title: 'There' }, by(there));
  return id;
}
