import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';

/**
 * A person without Forge edits a line at the remote, `a` sees it, and the person changes it back: the line is then as Forge
 * wrote it first. `between` is what `a` does before it hears of that, `pull` how it hears.
 */
interface Case {
  readonly between?: (a: Clone, g: Clone) => void;
  readonly write?: (text: string) => string;
  readonly more?: number;
  readonly pull?: (a: Clone) => void;
}

const pull =
  (...args: string[]) =>
  (a: Clone) =>
    void a.git('pull', '--quiet', '--no-edit', ...args);
const pretty = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => `${JSON.stringify(JSON.parse(line), null, 2)}\n`)
    .join('');

const CASES: Readonly<Record<string, Case>> = {
  'a plain pull': {},
  'F2 merged by the driver, after a commit that exported': { between: (a) => void a.commitFile('code') },
  'F3 merged, after a commit without tasks': {
    between: (a) => {
      a.write('code', 'x');
      a.git('add', 'code');
      a.git('commit', '--quiet', '--no-verify', '--message', 'code');
    },
  },
  'F3 rebased, after a commit without tasks': {
    between: (a) => {
      a.write('code', 'x');
      a.git('add', 'code');
      a.git('commit', '--quiet', '--no-verify', '--message', 'code');
    },
    pull: pull('--rebase'),
  },
  'F4 with more than ten later commits of the file': { more: 12 },
  'F5 where git shows no differences of the file': {
    between: (a) => void a.git('config', 'core.attributesFile', join(a.path, '.git/quiet')),
  },
  'F6 in a history that is cut off': {
    pull: (a) => {
      a.git('fetch', '--quiet', '--depth', '1', 'origin', 'main');
      a.git('reset', '--quiet', '--hard', 'FETCH_HEAD');
    },
  },
  'F10 in a file with objects over several lines': { write: pretty },
};

describe('a line that is changed back by a commit of a person without Forge', () => {
  it.for(shareOf(Object.entries(CASES), 3))(
    '%s: it counts',
    async ([, { between, write, more = 0, pull: hear = pull() }]) => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const [task, ...others] = await Promise.all(
        ['T0', ...Array.from({ length: more }, (_, n) => `O${n}`)].map((title) => a.create(title)),
      );
      await a.commitTasks();
      a.git('push', '--quiet', 'origin', 'HEAD:main');
      a.write('.git/quiet', `${FILE} -diff\n`);
      const g = await world.addClone('g', { init: false });
      if (write !== undefined) commit(g, write(g.read(FILE)));
      commit(g, replaced(g.read(FILE), 'T0', 'X'));
      a.git('pull', '--quiet');
      expect(await titleOf(a, task?.id)).toBe('X');
      between?.(a, g);
      commit(g, replaced(g.read(FILE), 'X', 'T0'));
      for (const { title } of others) commit(g, replaced(g.read(FILE), title, `${title} changed`));
      hear(a);
      expect(await titleOf(a, task?.id)).toBe('T0');
      await a.commitTasks();
      expect(a.git('show', `HEAD:${FILE}`)).toMatch(/"title": ?"T0"/);
    },
  );

  it('F2b in branch mode, where the first push failed: it counts', async () => {
    await using world = await forgeClones(['a'], { init: ['init', '--branch', 'forge-data'] });
    const { a } = world.clone;
    const task = await a.create('T0');
    await a.run('sync');
    const g = await world.addClone('g', { init: false });
    g.git('switch', '--quiet', 'forge-data');
    commit(g, replaced(g.read(FILE), 'T0', 'X'));
    a.git('remote', 'set-url', '--push', 'origin', join(world.folder, 'nowhere'));
    await a.run('sync');
    expect(await titleOf(a, task.id)).toBe('X');
    a.git('remote', 'set-url', '--push', 'origin', world.remote);
    commit(g, replaced(g.read(FILE), 'X', 'T0'));
    await a.run('sync');
    expect(await titleOf(a, task.id)).toBe('T0');
  });
});

describe('F8 the same edit by hand, made once more in another file', () => {
  it('counts, and what it replaced unseen is told', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const task = await a.create('T0');
    await a.commitTasks();
    const other = join(world.folder, 'other');
    a.git('worktree', 'add', '--quiet', '-b', 'other', other);
    const there = a.with({ cwd: other });
    await there.json('task', 'show', task.id);
    a.write(FILE, replaced(a.read(FILE), 'T0', 'Again'));
    expect(await titleOf(a, task.id)).toBe('Again');
    await a.json('task', 'update', task.id, '--title', 'Between');
    const file = join('..', 'other', FILE);
    a.write(file, replaced(a.read(file), 'T0', 'Again'));
    const shown = await there.run('task', 'show', task.id, '--json');
    expect((JSON.parse(shown.stdout) as Task).title).toBe('Again');
    expect(shown.stderr).toContain('1 value lost against a change made elsewhere');
    expect(await a.json<object[]>('conflicts')).toMatchObject([{ name: 'title', lost: 'Between' }]);
  });
});

function commit(clone: Clone, text: string): void {
  clone.write(FILE, text);
  clone.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
  clone.git('push', '--quiet');
}

function replaced(text: string, from: string, to: string): string {
  const edited = text.replace(new RegExp(`("title": ?)"${from}"`), `$1"${to}"`);
  expect(edited).not.toBe(text);
  return edited;
}

async function titleOf(clone: Clone, id = ''): Promise<string> {
  const { stdout } = await clone.run('task', 'show', id, '--json');
  return (JSON.parse(stdout) as Task).title;
}
