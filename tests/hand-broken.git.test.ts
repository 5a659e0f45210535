import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import {
  forgeClones,
  linesOf,
  recordIn,
  settle,
  titlesOf,
  type Clone,
  type Clones,
} from './support/git-clones.ts';
import { inSoak, shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';
const BRANCH = ['init', '--branch', 'forge-data'];

const NO_DATE = '{"id":"fg-new1","title":"new"}';

describe('[T14-2] lines of the data branch that cannot be read', () => {
  it('stay there in their order and are told, until a person takes them out', async () => {
    const kept = ['rubbish', NO_DATE, 'rubbish'];
    await using world = await forgeClones(['a'], { init: BRANCH });
    const { a } = world.clone;
    await a.create('one');
    await a.create('two');
    await a.run('sync');
    const person = await checkOutData(world);
    person.write(FILE, `rubbish\n${person.read(FILE)}${NO_DATE}\nrubbish\n`);
    person.git('commit', '-qam', 'by hand');
    person.git('push', '-q');
    const first = await a.run('sync');
    expect(first.stderr).toContain(`forge-data:${FILE} has ${kept.length} line`);
    expect(first.stderr).toContain('cannot be read (line 3: ');
    const doctor = await a.run('doctor');
    expect(doctor.stdout).toContain(`${kept.length} line${kept.length === 1 ? '' : 's'} cannot be read`);
    await a.create('three');
    expect((await a.run('sync')).stderr).toContain('cannot be read');
    expect((await a.run('sync')).stderr).toContain('cannot be read');
    person.git('pull', '-q');
    const lines = linesOf(person.read(FILE));
    expect(lines.slice(3)).toEqual(kept);
    person.write(FILE, `${lines.slice(0, 3).join('\n')}\n`);
    person.git('commit', '-qam', 'taken out by hand');
    person.git('push', '-q');
    await a.create('four');
    await a.run('commit');
    expect((await a.run('sync')).stderr).toBe('');
    person.git('pull', '-q');
    expect(linesOf(person.read(FILE))).toHaveLength(4);
  });

  inSoak(() => {
    it('stay where both sides changed the branch', async () => {
      await using world = await forgeClones(['a', 'b'], { init: BRANCH });
      const { a, b } = world.clone;
      await a.create('one');
      await a.run('sync');
      await b.run('sync');
      const person = await checkOutData(world);
      person.write(FILE, `${person.read(FILE)}rubbish\n`);
      person.git('commit', '-qam', 'by hand');
      person.git('push', '-q');
      await b.create('two');
      await b.run('commit');
      await b.run('sync');
      await a.run('sync');
      person.git('pull', '-q');
      expect(linesOf(person.read(FILE)).slice(2)).toEqual(['rubbish']);
    });
  });
});

it('[T14-2] forge sync tells of lines that cannot be read in a branch of the remote', async () => {
  await using world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  a.write(FILE, `${NO_DATE}\n`);
  a.git('add', FILE);
  a.git('-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'by hand');
  a.git('push', '-q');
  expect((await b.run('sync')).stderr).toContain(
    `origin/main:${FILE} has 1 line that cannot be read (line 1:`,
  );
});

describe('[T14-6] a task file that a tool wrote anew in its own way', () => {
  it.for(shareOf(['objects', 'list'] as const, 2))(
    '%s: edits count, and the next commit is clean',
    async (form) => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const [one, two] = [await a.create('one'), await a.create('two')];
      await a.commitTasks();
      a.write(FILE, rewrite(a.read(FILE), form));
      expect(await titlesOf(a)).toEqual(['one!', 'two!']);
      await a.commitTasks();
      const lines = linesOf(a.read(FILE));
      expect(lines.map((line) => (JSON.parse(line) as Task).id)).toEqual([one.id, two.id].sort());
      expect((await a.run('doctor')).stdout).toContain('every line can be read');
    },
  );

  inSoak(() => {
    it('is found by a fresh clone, and merges', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const one = await a.create('one');
      await a.create('two');
      await settle([a, b]);
      await b.run('task', 'update', one.id, '--priority', '0');
      await b.commitTasks();
      a.write(FILE, rewrite(a.read(FILE), 'objects'));
      a.git('-c', 'core.hooksPath=/dev/null', 'commit', '-qam', 'by hand');
      a.git('push', '-q');
      const fresh = await world.addClone('fresh');
      expect(await titlesOf(fresh)).toEqual(['one!', 'two!']);
      b.git('pull', '-q', '--no-rebase');
      expect(await titlesOf(b)).toEqual(['one!', 'two!']);
      expect(linesOf(b.read(FILE))).toHaveLength(2);
      expect(recordIn(b.read(FILE), 'one!')).toMatchObject({ priority: 0 });
    });

    it('is read from the data branch', async () => {
      await using world = await forgeClones(['a'], { init: BRANCH });
      const { a } = world.clone;
      await a.create('one');
      await a.run('sync');
      const person = await checkOutData(world);
      person.write(FILE, rewrite(person.read(FILE), 'objects'));
      person.git('commit', '-qam', 'by hand');
      person.git('push', '-q');
      expect((await a.run('sync')).stderr).toBe('');
      expect(await titlesOf(a)).toEqual(['one!']);
      person.git('pull', '-q');
      expect(linesOf(person.read(FILE))).toHaveLength(1);
    });
  });

  it('keeps its order where it cannot be read', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await a.create('one');
    await a.run('export');
    const broken = '{\n  "b": x,\n  "a": x\n}\n{\n  "c": x\n}\n';
    a.write(FILE, broken + a.read(FILE));
    await a.run('task', 'create', 'two');
    await a.run('export');
    expect(a.read(FILE).endsWith(`}}\n${broken}`)).toBe(true);
  });
});

const CHANGES: readonly (readonly [string, Partial<Task>])[] = [
  ['created_by', { created_by: 'Ada Lovelace' }],
  ['created_at, later', { created_at: '2031-01-01T00:00:00.000Z' }],
  ['created_at, earlier', { created_at: '2001-01-01T00:00:00.000Z' }],
  ['both', { created_by: 'Ada Lovelace', created_at: '2001-01-01T00:00:00.000Z' }],
];

describe('[T14-7] a line whose author or time of creation was edited is still that task', () => {
  it.for(shareOf(CHANGES, 3))('%s: nothing is doubled, and other edits count, twice', async ([, change]) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const before = [await a.create('one'), await a.create('two')];
    await a.commitTasks();
    for (const description of ['first', 'second']) {
      changeLines(a, { ...change, description });
      const { stderr, stdout } = await a.run('task', 'list', '--json');
      expect(stderr).toMatch(/created_by or created_at of 2 tasks .* the old values stand/);
      expect((await a.run('task', 'list')).stderr).toBe('');
      const tasks = (JSON.parse(stdout) as Task[]).toSorted((x, y) => x.title.localeCompare(y.title));
      expect(tasks).toMatchObject(
        before.map(({ id, created_at, created_by }) => ({ id, created_at, created_by })),
      );
      expect((await show(a, tasks[0]?.id)).description).toBe(description);
      // The second time the line is one that the store has outgrown.
      await a.run('task', 'update', tasks[0]?.id ?? '', '--priority', '1');
    }
    await a.commitTasks();
    expect(linesOf(a.read(FILE))).toHaveLength(2);
    expect((await show(a, before[0]?.id)).priority).toBe(1);
  });

  inSoak(() => {
    it('both: by a pull, with the merge driver and without', async () => {
      const change = { created_by: 'Ada Lovelace', created_at: '2001-01-01T00:00:00.000Z' };
      await using world = await forgeClones(['a', 'b', 'c']);
      const { a, b, c } = world.clone;
      const task = await a.create('one');
      await settle([a, b, c]);
      await b.run('task', 'update', task.id, '--priority', '0');
      await b.commitTasks();
      changeLines(a, { ...change, description: 'd' });
      a.git('-c', 'core.hooksPath=/dev/null', 'commit', '-qam', 'by hand');
      a.git('push', '-q');
      c.git('pull', '-q');
      b.git('pull', '-q', '--no-rebase');
      const { created_at, created_by } = task;
      for (const clone of [a, b, c])
        expect(await show(clone, task.id)).toMatchObject({ description: 'd', created_at, created_by });
      await settle([a, b, c]);
      expect(a.read(FILE)).toBe(b.read(FILE));
      expect(linesOf(a.read(FILE))).toHaveLength(1);
      expect(await show(c, task.id)).toMatchObject({ description: 'd', priority: 0, created_at, created_by });
    });
  });
});

it.for(
  shareOf(
    [
      ['priority', 'high'],
      ['status', 'done'],
      ['labels', 'x'],
      ['created_at', 'yesterday'],
    ] as const,
    3,
  ),
)('[T14-12] a value that cannot be read leaves the other edits of its line: %s', async ([key, value]) => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const before = await a.create('one');
  await a.commitTasks();
  changeLines(a, { title: 'two', [key]: value });
  const told = await a.run('task', 'list');
  expect(told.stderr).toContain(`has 1 line that cannot be read (line 1: Not a task: `);
  expect(await show(a, before.id)).toMatchObject({ title: 'two', [key]: before[key] });
  await a.run('task', 'update', before.id, '--title', 'three', '--priority', '1');
  await a.run('export');
  // The text that cannot be read stays to be seen, and says nothing twice.
  const [line = '', bad = '', ...more] = linesOf(a.read(FILE));
  expect({ line: JSON.parse(line) as unknown, more }).toMatchObject({ line: { title: 'three' }, more: [] });
  expect(bad).toContain(`"${key}":"${value}"`);
  a.write(FILE, `${line}\n${bad}\n\n`);
  expect(await show(a, before.id)).toMatchObject({ title: 'three', priority: 1 });
});

/** In every line of the file, with all else as it was. */
function changeLines(clone: Clone, change: Partial<Task>): void {
  const lines = linesOf(clone.read(FILE)).map((line) =>
    JSON.stringify({ ...(JSON.parse(line) as Task), ...change }),
  );
  clone.write(FILE, `${lines.join('\n')}\n`);
}

async function show(clone: Clone, id = ''): Promise<Task> {
  const { stdout, exit } = await clone.run('task', 'show', id, '--json');
  expect({ exit, stdout }).toMatchObject({ exit: 0 });
  return JSON.parse(stdout) as Task;
}

/** As `jq '.title += "!"'` and `jq -s` write it. */
function rewrite(text: string, form: 'objects' | 'list'): string {
  const tasks = linesOf(text).map((line) => JSON.parse(line) as Task);
  const changed = tasks.map((task) => ({ ...task, title: `${task.title}!` }));
  if (form === 'list') return `${JSON.stringify(changed, null, 2)}\n`;
  return changed.map((task) => `${JSON.stringify(task, null, 2)}\n`).join('');
}

/** A person's checkout of the data branch, without Forge. */
async function checkOutData(world: Clones<string>): Promise<Clone> {
  const person = await world.addClone('person', { init: false });
  person.git('checkout', '-q', 'forge-data');
  return person;
}
