import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { forgeClones, toClone, type Clone } from './support/git-clones.ts';

const FILE = '.forge/tasks.jsonl';

/** A script that knows nothing of stamps writes all lines anew, and changes one of them. */
function rewriteAll(clone: Clone, id: string, change: JsonObject): void {
  const lines = clone.read(FILE).split('\n').slice(0, -1);
  const written = lines.map((text) => {
    const { _v, ...line } = readJson(text) as JsonObject;
    return JSON.stringify(line['id'] === id ? { ...line, ...change } : line);
  });
  clone.write(FILE, `${written.join('\n')}\n`);
}

it('lines of a script take nothing back whose events were forgotten since the file was written', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const [one, two] = [await a.create('one'), await a.create('two')];
  await a.run('commit');
  // Its file shows the tasks as they are now, until a command writes there.
  const path = join(world.folder, 'side');
  a.git('worktree', 'add', '--quiet', '-b', 'side', path);
  const side = toClone(path, world.place);
  await side.run('ready');
  await a.json('task', 'update', one.id, '--title', 'acknowledged', '--label-add', 'mine');
  await a.json('task', 'close', one.id, '--reason', 'finished');
  await a.run('commit');
  await a.json('task', 'update', two.id, '--description', 'today');
  using db = new DatabaseSync(join(a.path, '.git/forge/forge.db'));
  db.exec(
    "UPDATE events SET created_at = '2020-01-01T00:00:00.000Z' WHERE seq < (SELECT max(seq) FROM events)",
  );
  expect(await a.json('gc')).toMatchObject({ events: { forgotten: expect.any(Number) } });
  rewriteAll(side, two.id, { priority: 0 });
  expect(await side.show(two.id)).toMatchObject({ priority: 0, description: 'today' });
  expect(await a.show(one.id)).toMatchObject({ title: 'acknowledged', labels: ['mine'], status: 'closed' });
  expect(await a.json('conflicts')).toEqual([]);
});

it('lines of a script take nothing back of a change of very many tasks, which have no events of their own', async () => {
  await using world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  const { id } = await a.create('of a script');
  await a.run('export');
  const many = Array.from({ length: LIMITS.fold_events + 2 }, (_, n) => ({
    id: `${id.split('-')[0]}-x${n}`,
    title: `task ${n}`,
    status: 'open',
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: 'ann',
  }));
  const plain = many.map((line) => `${JSON.stringify(line)}\n`).join('');
  a.write(FILE, `${a.read(FILE)}${plain}`);
  await a.run('commit');
  a.git('push', '--quiet');
  b.git('pull', '--quiet');
  await b.run('ready');
  b.write(FILE, b.read(FILE).replaceAll(/"title":"task (\d+)"/g, '"title":"new $1"'));
  await b.run('commit');
  b.git('push', '--quiet');
  // What the branch on the server has is joined in; the file of this checkout is as it was.
  await a.run('sync');
  rewriteAll(a, id, { priority: 0 });
  expect(await a.show(id)).toMatchObject({ priority: 0 });
  const titles = (await a.json('task', 'list', '--all', '--limit', '5000')) as { title: string }[];
  expect(titles.filter(({ title }) => title.startsWith('new '))).toHaveLength(many.length);
});
