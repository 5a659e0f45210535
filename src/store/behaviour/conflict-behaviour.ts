import { describe, expect, it } from 'vitest';
import { exportLines, fold, shareLines } from '../../../tests/support/fold-lines.ts';
import type { ConflictPlace } from '../replication.ts';
import { by, claim, close, create, expectCode, line } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';

/** What lost when two clones wrote without knowing of each other. */
export function describeConflicts(open: OpenSync): void {
  describe('values that lost a merge', () => {
    it('are listed for one task or all, by their names', async () => {
      await using world = await quarrel(open);
      const { here, id } = world;
      const other = await create(here, 'Peaceful');
      const all = await here.store.listConflicts(undefined);
      expect(all.map(({ id: of, name, lost, stands, title }) => ({ of, name, lost, stands, title }))).toEqual(
        [
          { of: id, name: 'description', lost: 'Here', stands: 'There', title: 'There' },
          { of: id, name: 'metadata.k', lost: 1, stands: 2, title: 'There' },
          { of: id, name: 'priority', lost: 0, stands: 4, title: 'There' },
          { of: id, name: 'title', lost: 'Here', stands: 'There', title: 'There' },
        ],
      );
      for (const { at, key, name } of all) {
        expect(at).toMatch(/^2026-02-10T09:/);
        expect(key.startsWith(`${name}@`)).toBe(true);
      }
      expect(await here.store.listConflicts(id)).toEqual(all);
      expect(await here.store.listConflicts(other.id)).toEqual([]);
      await expectCode(here.store.listConflicts('fg-none'), 'not_found');
    });

    it('are read in parts, without tasks that have none, and behind them deleted tasks that were edited', async () => {
      await using temp = await open();
      const at = '2026-02-10T09:00:00.000Z';
      const conflicts = { 'title@mlgqy2sx.abc': 'lost', 'priority@mlgqy2sx.abd': 1 };
      await temp.bring([
        ...['fg-c', 'fg-b'].map((id) => line(id, { conflicts })),
        line('fg-none'),
        line('fg-gone', { deleted_at: at, updated_at: at }),
        line('fg-edited', { deleted_at: at, updated_at: at, title: 'Edited', _v: { title: 'mlgqy2sx' } }),
      ]);
      const all = await temp.store.listConflicts(undefined);
      expect(all.map(({ id, name }) => `${id} ${name}`)).toEqual([
        'fg-b priority',
        'fg-b title',
        'fg-c priority',
        'fg-c title',
        'fg-edited deleted',
      ]);
      for (const bounds of [
        { max_rows: 1, max_bytes: Infinity },
        { max_rows: Infinity, max_bytes: 1 },
      ]) {
        const pages: number[] = [];
        const found: unknown[] = [];
        for (let after: ConflictPlace | undefined; ;) {
          const page = await temp.store.pageConflicts({ after, ...bounds });
          pages.push(new Set(page.entries.map(({ id }) => id)).size);
          found.push(...page.entries);
          after = page.after;
          if (after === undefined) break;
        }
        expect(Math.max(...pages)).toBe(1);
        expect(found).toHaveLength(all.length);
        expect(found).toEqual(expect.arrayContaining(all));
      }
    });

    it('tell the parent that stands also where that is not here, of all tasks as of one', async () => {
      await using sut = await open();
      const conflicts = { 'parent_id@mlgqy2sx.abc': 'fg-lost' };
      await sut.bring([line('fg-child', { parent_id: 'fg-away', conflicts })]);
      const all = await sut.store.listConflicts(undefined);
      expect(all).toMatchObject([{ name: 'parent_id', lost: 'fg-lost', stands: 'fg-away' }]);
      expect(await sut.store.listConflicts('fg-child')).toEqual(all);
    });

    it('settled as they stand: the task stays as it is', async () => {
      await using world = await quarrel(open);
      const { here, id } = world;
      const before = await here.store.getTask(id);
      expect(await here.store.settleConflicts({ id, field: 'title', take_lost: false }, by(here))).toEqual({
        id,
        settled: ['title'],
        left: 3,
      });
      const rest = await here.store.settleConflicts({ id, field: undefined, take_lost: false }, by(here));
      expect(rest).toEqual({ id, settled: ['description', 'metadata.k', 'priority'], left: 0 });
      const { title, description, priority, metadata } = await here.store.getTask(id);
      expect({ title, description, priority, metadata }).toEqual({
        title: before.title,
        description: before.description,
        priority: before.priority,
        metadata: before.metadata,
      });
      expect(await here.store.listConflicts(undefined)).toEqual([]);
    });

    it('taken back: each kind of value is written as a new change', async () => {
      await using world = await quarrel(open);
      const { here, id } = world;
      await here.store.settleConflicts({ id, field: undefined, take_lost: true }, by(here));
      expect(await here.store.getTask(id)).toMatchObject({
        title: 'Here',
        description: 'Here',
        priority: 0,
        metadata: { k: 1 },
      });
      expect(await here.store.listConflicts(undefined)).toEqual([]);
      await here.reopen();
      expect((await here.store.getTask(id)).title).toBe('Here');
    });

    it('what was settled here is settled everywhere, and an old file does not bring it back', async () => {
      await using world = await quarrel(open);
      const { here, there, id } = world;
      const quarrelling = await exportLines(here);
      await fold(there, quarrelling);
      expect(await there.store.listConflicts(undefined)).toHaveLength(4);
      here.clock.advance(60_000);
      await here.store.settleConflicts({ id, field: undefined, take_lost: false }, by(here));
      await fold(there, await exportLines(here));
      expect(await there.store.listConflicts(undefined)).toEqual([]);
      await fold(here, quarrelling);
      expect(await here.store.listConflicts(undefined)).toEqual([]);
    });

    it('a claim: shown, and taken back as a new claim', async () => {
      for (const take_lost of [false, true]) {
        await using world = await twoStores(open);
        const { here, there } = world;
        const { id } = await create(here, 'Wanted');
        await fold(there, await shareLines(here));
        await claim(here, id, 'early');
        there.clock.advance(100_000);
        await claim(there, id, 'late');
        await fold(there, await exportLines(here));
        expect(await there.store.listConflicts(id)).toMatchObject([
          { name: 'life', lost: { assignee: 'late' }, stands: { assignee: 'early', status: 'in_progress' } },
        ]);
        await there.store.settleConflicts({ id, field: 'life', take_lost }, by(there, 'nina', 'user'));
        expect(await there.store.getTask(id)).toMatchObject({
          status: 'in_progress',
          assignee: take_lost ? 'late' : 'early',
        });
        await fold(here, await exportLines(there));
        expect((await here.store.getTask(id)).assignee).toBe(take_lost ? 'late' : 'early');
      }
    });

    it('there is nothing to settle: told with what there is', async () => {
      await using world = await quarrel(open);
      const { here, id } = world;
      const error = await expectCode(
        here.store.settleConflicts({ id, field: 'labels', take_lost: false }, by(here)),
        'not_found',
      );
      expect(error).toMatchObject({ hint: 'forge conflicts', details: { id } });
      const { id: other } = await create(here, 'Peaceful');
      await close(here, other);
      await expectCode(
        here.store.settleConflicts({ id: other, field: undefined, take_lost: true }, by(here)),
        'not_found',
      );
    });
  });

  describe('the checks of a task, written by a token that may not run programs', () => {
    const steps = (step: string) => new Map([['review_config', { ci_steps: [step] }]]);
    const actor = { kind: 'user', name: 'ada', named: true } as const;
    const person = (store: SyncUnderTest) => ({ ...by(store), actor });

    it('do not change, by any write', async () => {
      await using world = await twoStores(open);
      const { here, there } = world;
      const { id } = await create(here, 'Checked');
      await here.store.updateTask({ id, workflow_fields: steps('npm test') }, person(here));
      await fold(there, await shareLines(here));
      await here.store.updateTask({ id, title: 'Here', workflow_fields: steps('true') }, person(here));
      there.clock.advance(60_000);
      await there.store.updateTask(
        { id, title: 'There', workflow_fields: steps('npm run all') },
        person(there),
      );
      await fold(here, await exportLines(there));
      const writer = { ...person(here), vouches: false };
      const { store } = here;
      const settle = (field: string | undefined) => ({ id, field, take_lost: true });
      for (const write of [
        () => store.settleConflicts(settle('review_config'), writer),
        () => store.settleConflicts(settle(undefined), writer),
        () => store.updateTask({ id, workflow_fields: steps('true') }, writer),
        () => store.updateTask({ id, workflow_fields: new Map([['review_config', null]]) }, writer),
      ])
        await expectCode(write(), 'permission_denied');
      expect(await store.getTask(id)).toMatchObject({
        title: 'There',
        review_config: { ci_steps: ['npm run all'] },
      });
      // All else may be taken, and the checks too by a token that may set them.
      expect(await store.settleConflicts(settle('title'), writer)).toMatchObject({
        settled: ['title'],
        left: 1,
      });
      await store.settleConflicts(settle('review_config'), { ...writer, vouches: true });
      expect(await store.getTask(id)).toMatchObject({ title: 'Here', review_config: { ci_steps: ['true'] } });
      await store.deleteTask({ id }, writer);
      await store.restoreTask({ id }, writer);
      expect(await store.getTask(id)).toMatchObject({ review_config: { ci_steps: ['true'] } });
    });
  });
}

interface World extends AsyncDisposable {
  readonly here: SyncUnderTest;
  readonly there: SyncUnderTest;
}

async function twoStores(open: OpenSync): Promise<World> {
  const here = await open();
  const there = await open();
  return {
    here,
    there,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await there[Symbol.asyncDispose]();
    },
  };
}

/** Both changed the same of one task without knowing of the other; `there` was later and has come in `here`. */
async function quarrel(open: OpenSync): Promise<World & { readonly id: string }> {
  const world = await twoStores(open);
  const { here, there } = world;
  const { id } = await create(here, 'Old', { metadata: new Map([['k', 0]]) });
  await fold(there, await shareLines(here));
  const change = (word: string, n: number, priority: number) => ({
    id,
    title: word,
    description: word,
    priority,
    metadata_set: new Map([['k', n]]),
  });
  await here.store.updateTask(change('Here', 1, 0), by(here));
  there.clock.advance(60_000);
  await there.store.updateTask(change('There', 2, 4), by(there));
  await fold(here, await exportLines(there));
  return { ...world, id };
}
