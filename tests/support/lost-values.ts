import { describe, expect, it } from 'vitest';
import type { ConflictEntry } from '#domain/decide-settlement.ts';
import { forgeClones, type Clone } from './git-clones.ts';
import { shareOf } from './share-of.ts';

const BRANCH = ['init', '--branch', 'forge-data'];
const LONG = { timeout: 120_000 };

/** What the clone with the earlier values has done with them before it hears of the later ones. */
const STANDARD_DOINGS = {
  nothing: async () => undefined,
  exported: async (clone: Clone) => void (await clone.json('export')),
  committed: (clone: Clone) => clone.commitTasks(),
  'committed and pushed to another branch': async (clone: Clone) => {
    await clone.commitTasks();
    clone.git('push', '--quiet', 'origin', 'HEAD:refs/heads/elsewhere');
  },
} as const;

/** How it then hears of them. */
const STANDARD_WAYS = {
  'forge sync, forge commit, git pull': async (clone: Clone) => {
    await clone.json('sync');
    // At once, and not after the pull alone.
    await expectKept(clone);
    await clone.commitTasks();
    clone.git('pull', '--quiet');
  },
  'forge commit, git pull': async (clone: Clone) => {
    await clone.commitTasks();
    clone.git('pull', '--quiet');
    await expectKept(clone);
  },
  'forge commit, git pull --rebase, forge sync': async (clone: Clone) => {
    await clone.commitTasks();
    clone.git('pull', '--quiet', '--rebase');
    await clone.json('sync');
    await expectKept(clone);
  },
  'git reset --hard to the other side': async (clone: Clone) => {
    clone.git('fetch', '--quiet');
    clone.git('reset', '--quiet', '--hard', 'origin/main');
    // The first command tells of it.
    await expectTold(clone);
    await expectKept(clone);
    await clone.commitTasks();
  },
} as const;

const BRANCH_DOINGS = {
  nothing: async () => undefined,
  exported: STANDARD_DOINGS.exported,
  committed: STANDARD_DOINGS.committed,
  'exported and committed': async (clone: Clone) => {
    await clone.json('export');
    await clone.commitTasks();
  },
} as const;

/** One of each kind of value. */
const EARLIER = { description: 'Earlier', 'metadata.k': 1, priority: 0, title: 'Earlier' };

/** `pick` takes some of the combinations, or all. */
export function describeLostValues(pick: <T>(rows: readonly T[]) => readonly T[]): void {
  describe('values of two clones that did not know of each other: the earlier are kept, and told once', () => {
    const standard = keysOf(STANDARD_DOINGS).flatMap((did) =>
      keysOf(STANDARD_WAYS).map((way) => [did, way] as const),
    );
    it.each(pick(standard))('in standard mode, %s; then %s', LONG, async (did, way) => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const id = await shareTask(a, b);
      await change(b, id, EARLIER);
      await STANDARD_DOINGS[did](b);
      await change(a, id, LATER);
      await a.commitTasks();
      a.git('push', '--quiet', 'origin', 'main');
      await STANDARD_WAYS[way](b);
      b.git('push', '--quiet', 'origin', 'main');
      await a.json('sync');
      a.git('pull', '--quiet');
      for (const clone of [a, b]) {
        await expectStanding(clone, id, LATER);
        expect(await lostIn(clone)).toEqual(EARLIER);
      }
      // Settled in one clone it is settled in the other, and no old commit brings it back.
      await a.json('resolve', id);
      await a.commitTasks();
      a.git('push', '--quiet', 'origin', 'main');
      await b.json('sync');
      b.git('pull', '--quiet');
      for (const clone of [b, a]) {
        await clone.json('sync');
        expect(await lostIn(clone)).toEqual({});
      }
    });

    const branch = keysOf(BRANCH_DOINGS).flatMap((earlier) =>
      (['nothing', 'exported'] as const).flatMap((later) =>
        (['earlier', 'later'] as const).map((first) => [earlier, later, first] as const),
      ),
    );
    it.each(pick(branch))(
      'in branch mode, the earlier %s, the later %s; the %s is pushed first',
      LONG,
      async (earlier, later, first) => {
        await using world = await forgeClones(['a', 'b'], { init: BRANCH });
        const { a, b } = world.clone;
        const { id } = await a.create('Shared');
        await a.json('sync');
        await b.json('sync');
        await change(b, id, EARLIER);
        await BRANCH_DOINGS[earlier](b);
        await change(a, id, LATER);
        await BRANCH_DOINGS[later](a);
        const [one, two] = first === 'earlier' ? [b, a] : [a, b];
        await one.json('sync');
        await two.json('sync');
        expect(await lostIn(two)).toEqual(EARLIER);
        await one.json('sync');
        for (const clone of [a, b]) {
          await expectStanding(clone, id, LATER);
          expect(await lostIn(clone)).toEqual(EARLIER);
        }
        await b.json('resolve', id);
        for (const clone of [b, a, b, a]) await clone.json('sync');
        for (const clone of [a, b]) expect(await lostIn(clone)).toEqual({});
      },
    );
  });

  describe('a value whose writer had seen the other is no conflict', () => {
    it.each(shareOf(['git pull', 'forge sync'] as const, 2))('in standard mode, by %s', LONG, async (way) => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const id = await shareTask(a, b);
      await change(b, id, EARLIER);
      await b.commitTasks();
      b.git('push', '--quiet', 'origin', 'main');
      if (way === 'forge sync') await a.json('sync');
      a.git('pull', '--quiet');
      await change(a, id, LATER);
      await a.commitTasks();
      a.git('push', '--quiet', 'origin', 'main');
      if (way === 'forge sync') await b.json('sync');
      b.git('pull', '--quiet');
      // Once more in the other direction, over what was seen.
      await change(b, id, { ...LATER, title: 'Last' });
      await b.commitTasks();
      b.git('push', '--quiet', 'origin', 'main');
      a.git('pull', '--quiet');
      for (const clone of [a, b]) {
        expect(await lostIn(clone)).toEqual({});
        await expectStanding(clone, id, { ...LATER, title: 'Last' });
      }
    });

    it('in branch mode', LONG, async () => {
      await using world = await forgeClones(['a', 'b'], { init: BRANCH });
      const { a, b } = world.clone;
      const { id } = await a.create('Shared');
      for (const clone of [a, b]) await clone.json('sync');
      await change(b, id, EARLIER);
      await b.json('export');
      for (const clone of [b, a]) await clone.json('sync');
      await change(a, id, LATER);
      for (const clone of [a, b]) await clone.json('sync');
      for (const clone of [a, b]) {
        expect(await lostIn(clone)).toEqual({});
        await expectStanding(clone, id, LATER);
      }
    });

    it('nor where it was seen by another branch: whoever replaced it takes that back', LONG, async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const id = await shareTask(a, b);
      b.git('switch', '--quiet', '-c', 'feature');
      await change(b, id, EARLIER);
      await b.commitTasks();
      b.git('push', '--quiet', '-u', 'origin', 'feature');
      await a.json('sync');
      await change(a, id, LATER);
      await a.commitTasks();
      a.git('push', '--quiet', 'origin', 'main');
      await b.json('sync');
      await b.commitTasks();
      b.git('push', '--quiet');
      await a.json('sync');
      await a.commitTasks();
      a.git('push', '--quiet', 'origin', 'main');
      await b.json('sync');
      for (const clone of [a, b]) {
        expect(await lostIn(clone)).toEqual({});
        await expectStanding(clone, id, LATER);
      }
    });

    it('a rewrite of one’s own, against older files of the same clone', LONG, async () => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const { id } = await a.create('Shared');
      await a.commitTasks();
      await change(a, id, EARLIER);
      await a.commitTasks();
      await change(a, id, LATER);
      await a.commitTasks();
      for (const back of ['HEAD~1', 'HEAD~2']) {
        a.git('switch', '--quiet', '--detach', `main${back.slice(4)}`);
        expect(await lostIn(a)).toEqual({});
        await expectStanding(a, id, LATER);
      }
      a.git('switch', '--quiet', 'main');
      expect(await lostIn(a)).toEqual({});
    });
  });
}

type Values = typeof EARLIER;
const LATER: Values = { description: 'Later', 'metadata.k': 2, priority: 4, title: 'Later' };

async function shareTask(a: Clone, b: Clone): Promise<string> {
  const { id } = await a.create('Shared', '--meta-set', 'k=0');
  await a.commitTasks();
  a.git('push', '--quiet', 'origin', 'main');
  b.git('pull', '--quiet');
  return id;
}

async function change(
  clone: Clone,
  id: string,
  { title, description, priority, ...meta }: Values,
): Promise<void> {
  const fields = ['--title', title, '--description', description, '--priority', `${priority}`];
  await clone.json('task', 'update', id, ...fields, '--meta-set', `k=${meta['metadata.k']}`);
}

async function expectStanding(
  clone: Clone,
  id: string,
  { title, description, priority, ...meta }: Values,
): Promise<void> {
  const metadata = { k: meta['metadata.k'] };
  expect(await clone.show(id)).toMatchObject({ title, description, priority, metadata });
}

async function expectKept(clone: Clone): Promise<void> {
  expect(await lostIn(clone)).toEqual(EARLIER);
}

async function expectTold(clone: Clone): Promise<void> {
  expect((await clone.run('ready')).stderr).toContain('forge conflicts');
}

/** By the name of each; a name that is told twice would be two entries, so they are counted. */
async function lostIn(clone: Clone): Promise<Record<string, unknown>> {
  const entries = await clone.json<ConflictEntry[]>('conflicts');
  const lost = Object.fromEntries(entries.map(({ name, lost: value }) => [name, value]));
  expect(entries.map(({ name }) => name).toSorted()).toEqual(Object.keys(lost).toSorted());
  return lost;
}

function keysOf<T extends object>(of: T): (keyof T)[] {
  return Object.keys(of) as (keyof T)[];
}
