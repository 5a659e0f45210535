import { describe, expect, it } from 'vitest';
import type { Clone } from './support/git-clones.ts';
import { combine, shareOf } from './support/share-of.ts';
import { endRebase, mergeThere, MERGES, settle } from './support/server-merge.ts';
import { threeClones } from './support/three-clones.ts';

const TASKS = '.forge/tasks.jsonl';
type Words = readonly string[];

/** What a person writes into the line, what the branch that never saw it does, and what the task shows afterwards. */
const EDITS: readonly (readonly [string, { from: string; to: string; branch: Words; shown: object }])[] = [
  [
    'a title',
    {
      from: '"T0"',
      to: '"HAND"',
      branch: ['task', 'close', 'ID', '--reason', 'done'],
      shown: { title: 'HAND' },
    },
  ],
  [
    'a label',
    {
      from: '"labels":[]',
      to: '"labels":["HAND"]',
      branch: ['task', 'close', 'ID', '--reason', 'done'],
      shown: { labels: ['HAND'] },
    },
  ],
  [
    'metadata',
    {
      from: '"metadata":{}',
      to: '"metadata":{"k":"HAND"}',
      branch: ['claim', 'ID'],
      shown: { metadata: { k: 'HAND' } },
    },
  ],
  [
    'a close',
    {
      from: '"status":"open"',
      to: '"status":"closed","close_reason":"HAND"',
      branch: ['task', 'update', 'ID', '--description', 'B'],
      shown: { status: 'closed', close_reason: 'HAND' },
    },
  ],
  [
    'a claim',
    {
      from: '"status":"open","priority":2,"type":"task","assignee":null',
      to: '"status":"in_progress","priority":2,"type":"task","assignee":"HAND"',
      branch: ['task', 'update', 'ID', '--description', 'B'],
      shown: { status: 'in_progress', assignee: 'HAND' },
    },
  ],
];

async function run(clone: Clone, id: string, words: Words): Promise<void> {
  await clone.run(...words.map((word) => (word === 'ID' ? id : word)));
  await clone.commitTasks();
}

function replace(clone: Clone, from: string, to: string): void {
  const text = clone.read(TASKS);
  expect(text).toContain(from);
  clone.write(TASKS, text.replace(from, to));
}

const TAKEN = combine(MERGES, combine(['--no-rebase', '--rebase'], EDITS)).map(
  ([by, [how, [what, edit]]]) => [by, how, what, edit] as const,
);

describe('a server where a person takes a whole line', () => {
  it.for(shareOf(TAKEN, 16))(
    'by a %s, and a clone that pulls with %s, keep %s that was edited by hand before, in a line that never saw it',
    async ([by, how, , edit]) => {
      const { world, a, b, g, id } = await threeClones();
      await using _ = world;
      // Her own clone takes the edit in and goes on.
      replace(a, edit.from, edit.to);
      a.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
      await a.run('ready');
      a.git('push', '--quiet', 'origin', 'HEAD:main');
      await run(a, id, ['task', 'comment', 'ID', 'own work']);
      b.git('switch', '--quiet', '--create', 'pb');
      await run(b, id, edit.branch);
      b.git('push', '--quiet', 'origin', 'HEAD:pb');
      g.git('pull', '--quiet');
      expect(mergeThere(g, 'pb', by)).toBe(false);
      settle(g, 'the later line', by);
      if (by === 'rebase') endRebase(g, 'pb');
      g.git('push', '--quiet', 'origin', 'main');
      b.git('switch', '--quiet', 'main');
      for (const clone of [a, b, a]) {
        clone.git('pull', '--quiet', '--no-edit', how);
        await clone.commitTasks();
        clone.git('push', '--quiet', 'origin', 'HEAD:main');
      }
      expect(await Promise.all([a, b].map((clone) => clone.show(id)))).toMatchObject([
        edit.shown,
        edit.shown,
      ]);
    },
  );
});

describe('an edit by hand that a commit changed back', () => {
  it.for(shareOf(['--no-rebase', '--rebase'], 2))(
    'is not brought back by a pull with %s, also where Forge wrote the line anew since',
    async (how) => {
      const { world, a, b, g, id } = await threeClones();
      await using _ = world;
      replace(a, '"T0"', '"HAND"');
      a.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
      await a.run('ready');
      a.git('push', '--quiet', 'origin', 'HEAD:main');
      await run(a, id, ['task', 'comment', 'ID', 'own work']);
      g.git('pull', '--quiet');
      g.git('revert', '--no-edit', 'HEAD');
      g.git('push', '--quiet', 'origin', 'main');
      // Both commits come at once, so that this clone never sees the edit.
      b.git('pull', '--quiet');
      await run(b, id, ['task', 'close', 'ID', '--reason', 'done']);
      b.git('push', '--quiet', 'origin', 'HEAD:main');
      a.git('pull', '--quiet', '--no-edit', how);
      await a.commitTasks();
      expect(await a.show(id)).toMatchObject({ title: 'T0', status: 'closed' });
    },
  );
});
