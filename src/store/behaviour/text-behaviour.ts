import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import type { TaskPosition, TaskQuery } from '../store.ts';
import { by, claim, create, line, titles, type OpenStore, type StoreUnderTest } from './open-behaviour.ts';

/** What the port's comment says of text, order and JSON. */
export function describeText(open: OpenStore): void {
  describe('text', () => {
    /** In the order of their characters; languages pass over the hyphen, or put figures behind letters. */
    const IDS = ['a-1', 'a-10', 'a-2', 'a-b', 'a0-1', 'ab-1', 'b-a'];

    it.each(['id', 'priority', 'created', 'updated'] as const)(
      'ids order what is equal else, character by character: %s',
      async (sort) => {
        await using sut = await open();
        await sut.bring(IDS.toReversed().map((id) => line(id)));
        const listed = await sut.store.listTasks({ sort });
        expect(listed.map(({ id }) => id)).toEqual(IDS);
        expect((await walk(sut, { sort })).map(({ id }) => id)).toEqual(IDS);
      },
    );

    it('what waits in another project stands among the others by the same order', async () => {
      await using sut = await open();
      const edges = IDS.toReversed().map((id) => ({ id, type: 'blocks' }));
      await sut.bring([line('zz-1', { dependencies: edges }), line('a-b')]);
      const view = await sut.store.getTask('zz-1');
      expect(view.dependencies.map(({ id }) => id)).toEqual(IDS);
      expect((await sut.store.readStanding('zz-1')).blockers.map(({ id }) => id)).toEqual(IDS);
      expect((await sut.store.listForeign()).map(({ id }) => id)).toEqual(IDS.filter((id) => id !== 'a-b'));
    });

    it('times are compared as they are written, which is their order', async () => {
      await using sut = await open();
      const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-01T00:00:01.000Z'];
      await sut.bring(
        times.map((time, at) => line(`fg-${3 - at}aaa`, { created_at: time, updated_at: time })),
      );
      expect((await walk(sut, { sort: 'created' })).map(({ created_at }) => created_at)).toEqual(times);
      const updated = await walk(sut, { sort: 'updated' });
      expect(updated.map(({ updated_at }) => updated_at)).toEqual(times.toReversed());
    });

    it('owners who have as much are ordered by their characters, those beyond U+FFFF last', async () => {
      await using sut = await open();
      const owners = ['Zoe', 'ann', 'Émile', '\ufb00', '\u{1f98a}'];
      for (const owner of owners.toReversed()) await claim(sut, (await create(sut, `Of ${owner}`)).id, owner);
      const { assigned } = await sut.store.readStats({ now: sut.clock.now(), exclude_types: [] });
      expect(assigned.map(({ assignee }) => assignee)).toEqual(owners);
    });

    it.each<[string, TaskQuery, TaskQuery]>([
      ['labels', { label: 'Ui' }, { label: 'ui' }],
      ['spellings of a letter', { label: 'caf\u00e9' }, { label: 'cafe\u0301' }],
      ['owners', { assignee: 'Ann' }, { assignee: 'ann' }],
    ])('%s are the same only if every character is', async (_, one, other) => {
      await using sut = await open();
      for (const { label, assignee = null } of [one, other])
        await create(sut, label ?? assignee ?? '', { labels: label === undefined ? [] : [label], assignee });
      for (const query of [one, other])
        expect(titles(await sut.store.listTasks(query))).toEqual([query.label ?? query.assignee]);
    });

    it.each([
      ['k', ['Kelvin']],
      ['\u212a', ['Kelvin', '\u212aelvin']],
      ['STRASSE', []],
      ['straße', ['Straße']],
      ['STRAẞE', ['Straße']],
      ['caf\u00e9', ['caf\u00e9']],
      ['cafe', ['cafe\u0301']],
      ['\u0130', ['\u0130']],
      ['i', ['Kelvin', '\u212aelvin']],
      ['ﬀ', ['oﬀ']],
      ['ff', []],
    ])(
      '%s is found in %j: ASCII knows the case of ASCII alone, and nothing is normalised',
      async (text, found) => {
        await using sut = await open();
        for (const title of ['Kelvin', '\u212aelvin', 'Straße', 'caf\u00e9', 'cafe\u0301', '\u0130', 'oﬀ'])
          await create(sut, title);
        expect(titles(await sut.store.listTasks({ text, sort: 'created' }))).toEqual(found);
      },
    );

    it('JSON of a task comes back with its names in order, at every depth, and with its numbers', async () => {
      await using sut = await open();
      const metadata = new Map<string, Json>([
        ['z', { c: [1, { y: 1.5e-7, x: 0.1 }], b: null }],
        ['a', ['\u0001', '\u{1f98a}', 'é"\\']],
        ['\u00e9', true],
      ]);
      const { id } = await create(sut, 'Kept', { metadata });
      const sorted = {
        a: ['\u0001', '\u{1f98a}', 'é"\\'],
        z: { b: null, c: [1, { x: 0.1, y: 1.5e-7 }] },
        '\u00e9': true,
      };
      const { metadata: shown } = await sut.store.getTask(id);
      expect(JSON.stringify(shown)).toBe(JSON.stringify(sorted));
      await sut.store.updateTask({ id, metadata_set: new Map([['b', 1]]) }, by(sut));
      const { metadata: changed } = await sut.store.getTask(id);
      expect(Object.keys(changed)).toEqual(['a', 'b', 'z', '\u00e9']);
    });
  });
}

/** A whole list in pages of two. */
async function walk({ store }: StoreUnderTest, query: TaskQuery) {
  const tasks = [];
  for (let after: TaskPosition | undefined; ;) {
    const page = await store.listTasks({ ...query, limit: 2, after });
    tasks.push(...page);
    const last = page.at(-1);
    if (last === undefined) return tasks;
    after = { ...last, critical_path: 0, unblocks: 0 };
  }
}
