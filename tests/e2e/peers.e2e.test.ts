import { afterAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import type { ForgeCli, ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

// What the tests and the bug lists of other task trackers (beads, ticket) say about any tracker, written anew.

const project = await forgeProjectHere();
afterAll(() => project[Symbol.asyncDispose]());

const ready = async (...flags: string[]): Promise<string[]> =>
  (await project.json<Task[]>('ready', ...flags)).map(({ id }) => id);

describe('ids', () => {
  it('any unambiguous beginning will do, with or without the prefix, in upper or lower case', async () => {
    await using place = await withIds('aa11', 'ab22', 'ab2z', 'zz99');
    const found = ['fg-aa11', 'aa11', 'fg-aa', 'aa', 'FG-AA11', 'Aa', 'z', 'fg-z', 'ab2z'];
    const shown = await Promise.all(found.map((ref) => place.show(ref)));
    expect(shown.map(({ id }) => id.slice(3))).toEqual([
      'aa11',
      'aa11',
      'aa11',
      'aa11',
      'aa11',
      'aa11',
      'zz99',
      'zz99',
      'ab2z',
    ]);
  });

  it('an ambiguous beginning is refused with the candidates; an exact id wins over longer ones', async () => {
    await using place = await withIds('ab22', 'ab2z', 'ab22xy', 'cd33');
    expect(await place.fails('task', 'show', 'ab')).toMatchObject({
      exit: 4,
      error: {
        code: 'ambiguous_id',
        message: '"ab" could be fg-ab22, fg-ab22xy, fg-ab2z',
        details: { id: 'ab', candidates: ['fg-ab22', 'fg-ab22xy', 'fg-ab2z'] },
      },
    });
    expect((await place.show('ab22')).id).toBe('fg-ab22');
    expect((await place.fails('task', 'close', 'fg-', '--reason', 'x')).error.code).toBe('ambiguous_id');
    expect((await place.fails('dep', 'add', 'cd', 'ab')).error.code).toBe('ambiguous_id');
    expect((await place.json<Task[]>('search', '--status', 'open')).length).toBe(4);
  });

  it('an unknown id exits non-zero from every command that takes one, and changes nothing', async () => {
    const { id } = await project.create('known');
    const unknown = ['fg-none', 'none', '%', '', "' OR 1=1", '../x', '0'.repeat(81)];
    const taking = OPERATIONS.filter(
      ({ cli, needs }) => needs === 'project' && cli.args?.some((arg) => /^(from_|to_)?id$/.test(arg)),
    );
    expect(taking.map(({ name }) => name)).toContain('task.delete');
    const before = await project.json('stats');
    const more: Record<string, string[]> = {
      'task.update': ['--title', 'x'],
      'task.close': ['--reason', 'x'],
      'task.comment': ['a comment'],
      'task.transition': ['blocked'],
      'task.assign': ['coder'],
      'task.review': ['pass'],
      'task.heartbeat': ['--fence', '1'],
      'attempt.start': ['--agent', 'w1'],
      'run.send': ['hello'],
      'dep.add': [id],
      'dep.remove': [id],
    };
    for (const { name, cli } of taking) {
      const failure = await project.fails(...cli.path, 'fg-none', ...(more[name] ?? []));
      expect([name, failure.exit, failure.error.code]).toEqual([name, 3, 'not_found']);
    }
    const others = await Promise.all([
      project.fails('dep', 'add', id, 'fg-none'),
      project.fails('task', 'create', 'x', '--parent', 'fg-none'),
      project.fails('task', 'create', 'x', '--depends-on', 'fg-none'),
      project.fails('task', 'update', id, '--parent', 'fg-none'),
      project.fails('task', 'list', '--parent', 'fg-none'),
      project.fails('search', '--parent', 'fg-none'),
    ]);
    expect(others.map(({ exit, error }) => [exit, error.code])).toEqual(others.map(() => [3, 'not_found']));
    const odd = await Promise.all(
      unknown.map((ref) => project.run('task', 'close', '--reason', 'x', '--', ref)),
    );
    for (const [at, { exit }] of odd.entries())
      expect([unknown[at], [2, 3].includes(exit)]).toEqual([unknown[at], true]);
    expect(await project.json('stats')).toEqual(before);
  });
});

describe('dependencies', () => {
  it('a task cannot depend on itself, whatever the type', async () => {
    const { id } = await project.create('self');
    const failures = await Promise.all(
      ['blocks', 'related', 'discovered-from'].map((type) =>
        project.fails('dep', 'add', id, id.slice(3), '--type', type),
      ),
    );
    for (const failure of failures) {
      expect(failure).toMatchObject({
        exit: 5,
        error: { code: 'dependency_cycle', message: `${id} cannot depend on itself` },
      });
    }
    expect((await project.show(id)).dependencies).toEqual([]);
  });

  it('`dep remove` of nothing says so and exits non-zero', async () => {
    const [a, b] = await Promise.all([project.create('a'), project.create('b')]);
    await project.json('dep', 'add', a.id, b.id, '--type', 'related');
    const failures = await Promise.all([
      project.fails('dep', 'remove', b.id, a.id),
      project.fails('dep', 'remove', a.id, b.id, '--type', 'blocks'),
    ]);
    expect(failures.map(({ exit, error }) => [exit, error.message])).toEqual([
      [3, `${b.id} has no dependency on ${a.id}`],
      [3, `${a.id} has no blocks dependency on ${b.id}`],
    ]);
    expect((await project.show(a.id)).version).toBe(2);
  });

  it('a diamond frees its end when the last side is closed', async () => {
    const top = await project.create('top');
    const [left, right] = await Promise.all([
      project.create('left', '--depends-on', top.id),
      project.create('right', '--depends-on', top.id),
    ]);
    const end = await project.create('end', '--depends-on', left.id, '--depends-on', right.id);
    const mine = new Set([top.id, left.id, right.id, end.id]);
    const now = async (): Promise<string[]> => (await ready()).filter((id) => mine.has(id)).toSorted();
    const close = (id: string): Promise<unknown> => project.json('task', 'close', id, '--reason', 'done');
    expect(await now()).toEqual([top.id]);
    await close(top.id);
    expect(await now()).toEqual([left.id, right.id].toSorted());
    await close(left.id);
    expect(await now()).toEqual([right.id]);
    await close(right.id);
    expect(await now()).toEqual([end.id]);
    await project.json('task', 'reopen', left.id);
    expect(await now()).toEqual([left.id]);
  });

  it('only the direct blocker of a chain counts, and closing it out of order frees at once', async () => {
    const a = await project.create('a');
    const b = await project.create('b', '--depends-on', a.id);
    const c = await project.create('c', '--depends-on', b.id);
    await project.json('task', 'close', b.id, '--reason', 'cancelled: not needed');
    const list = await ready();
    expect([a, b, c].map(({ id }) => list.includes(id))).toEqual([true, false, true]);
    await project.json('task', 'delete', a.id);
    expect(await project.show(b.id)).toMatchObject({ status: 'closed', dependencies: [] });
  });

  it('adding and removing in quick succession ends as the last one said', async () => {
    const [a, b] = await Promise.all([project.create('a'), project.create('b')]);
    for (let round = 0; round < 6; round += 1) {
      await project.json('dep', 'add', a.id, b.id);
      await project.json('dep', 'remove', a.id, b.id);
    }
    expect(await project.show(a.id)).toMatchObject({
      dependencies: [],
      open_blockers: 0,
      ready: true,
      version: 13,
    });
    await project.json('dep', 'add', a.id, b.id);
    expect(await project.show(a.id)).toMatchObject({ open_blockers: 1, ready: false });
    // At once, from many processes: one edge or none, and the count agrees with it.
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        project.program.run('dep', at % 2 === 0 ? 'add' : 'remove', a.id, b.id),
      ),
    );
    const { dependencies, open_blockers } = await project.show(a.id);
    expect(open_blockers).toBe(dependencies.length);
  });

  it('edges of opposite direction added at once never become a cycle', async () => {
    const tasks = await Promise.all(['a', 'b', 'c'].map((title) => project.create(title)));
    const [a = '', b = '', c = ''] = tasks.map(({ id }) => id);
    const results = await Promise.all(
      [
        [a, b],
        [b, c],
        [c, a],
      ].map(([from = '', to = '']) => project.program.run('dep', 'add', from, to)),
    );
    expect(results.map(({ exit }) => exit).toSorted((a, b) => a - b)).toEqual([0, 0, 5]);
    expect((await ready()).filter((id) => [a, b, c].includes(id))).toHaveLength(1);
  });

  it('a task cannot become its own ancestor', async () => {
    const grandparent = await project.create('g');
    const parent = await project.create('p', '--parent', grandparent.id);
    const child = await project.create('c', '--parent', parent.id);
    const failures = await Promise.all([
      project.fails('task', 'update', grandparent.id, '--parent', child.id),
      project.fails('task', 'update', parent.id, '--parent', parent.id),
    ]);
    expect(failures.map(({ exit, error }) => [exit, error.code])).toEqual(
      failures.map(() => [5, 'dependency_cycle']),
    );
    expect(failures[0]?.error.message).toBe(
      `${grandparent.id} would become its own ancestor: ${grandparent.id} -> ${child.id} -> ${parent.id} -> ${grandparent.id}`,
    );
    expect((await project.show(grandparent.id)).parent_id).toBeNull();
  });
});

describe('filters', () => {
  it.each([
    [['task', 'list', '--limit', '-1'], '--limit: must be between 1 and 10000000'],
    [['ready', '--limit', '0'], '--limit: must be between 1 and 10000000'],
    [['search', '--limit', 'many'], '--limit: must be a whole number, 1 to 10000000, not "many"'],
    [
      ['search', '--status', 'open,closed'],
      '--status: must be one of open, in_progress, closed, not "open,closed"',
    ],
    [['search', '--status', 'open', '--status', 'closed'], '--status is given twice: "open" and "closed"'],
    [['task', 'list', '--sort', 'age'], '--sort: must be one of priority, created, updated, id, not "age"'],
    [['search', '--assignee', ''], '--assignee: an identity is one line without spaces around it'],
    [['search', '--label', ''], '--label: a label is one line without spaces around it'],
    [['search', '--query', ''], '--query: must not be empty'],
    [['search', '--priority', '0-2'], '--priority: must be a whole number, 0 to 4, not "0-2"'],
    [['search', 'free', 'text'], 'Too many arguments: "free" has no place'],
  ])('%j is refused, not silently empty', async (args, message) => {
    const failure = await project.fails(...args);
    expect(failure).toMatchObject({ exit: 2, error: { message } });
  });

  it('the counts are those of the lists', async () => {
    await using place = await forgeProjectHere();
    const a = await place.create('a', '--type', 'bug', '--priority', '0');
    await Promise.all([
      place.create('b', '--depends-on', a.id),
      place.create('c', '--assignee', 'ann'),
      place.create('d', '--state', 'backlog'),
      place.create('e').then(({ id }) => place.json('claim', id, '--actor', 'w1')),
      place.create('f').then(({ id }) => place.json('task', 'close', id, '--reason', 'done')),
      place.create('g').then(({ id }) => place.json('task', 'delete', id)),
    ]);
    const stats = await place.json<Record<string, unknown>>('stats');
    const count = async (...args: string[]): Promise<number> => (await place.json<unknown[]>(...args)).length;
    const [total, listed, open, started, closed, bugs, urgent, able, blocked, parked, reserved] =
      await Promise.all([
        count('search'),
        count('task', 'list', '--all'),
        count('search', '--status', 'open'),
        count('search', '--status', 'in_progress'),
        count('search', '--status', 'closed'),
        count('search', '--type', 'bug'),
        count('search', '--priority', '0'),
        count('ready'),
        count('blocked'),
        count('search', '--state', 'backlog'),
        count('search', '--assignee', 'ann'),
      ]);
    expect(stats).toMatchObject({
      total,
      by_status: { open, in_progress: started, closed },
      by_type: { bug: bugs },
      by_priority: { 0: urgent },
      ready: able,
      blocked,
      parked,
      deleted: 1,
      assigned: expect.arrayContaining([{ assignee: 'ann', in_progress: 0, open: reserved }]),
    });
    expect(listed).toBe(total);
    expect(total).toBe(6);
  });
});

describe('states', () => {
  it('closing twice is fine, reopening what is open is told', async () => {
    const { id } = await project.create('twice');
    await project.json('task', 'close', id, '--reason', 'first');
    expect(await project.json('task', 'close', id, '--reason', 'second')).toMatchObject({
      close_reason: 'first',
    });
    await project.json('task', 'reopen', id);
    expect(await project.fails('task', 'reopen', id)).toMatchObject({
      exit: 5,
      error: { code: 'state_invalid', message: `${id} is not closed; it is open` },
    });
  });

  it('parking and unparking keep the place in the queue', async () => {
    const { id, created_at } = await project.create('parked', '--state', 'backlog', '--priority', '0');
    expect(await ready()).not.toContain(id);
    expect(await project.json('task', 'update', id, '--state', 'todo')).toMatchObject({
      status: 'open',
      state: 'todo',
      created_at,
    });
    expect(await ready('--limit', '1')).toEqual([id]);
    expect(await project.json('task', 'update', id, '--state', 'backlog')).toMatchObject({
      state: 'backlog',
    });
    expect(await ready()).not.toContain(id);
  });

  it('a blank title is refused on create and update; spaces inside stay', async () => {
    const { id, title } = await project.create('  two  spaces  ');
    expect(title).toBe('  two  spaces  ');
    const failures = await Promise.all([
      project.fails('task', 'create', ' \t '),
      project.fails('task', 'update', id, '--title', ''),
    ]);
    expect(failures.map(({ exit }) => exit)).toEqual([2, 2]);
    expect((await project.show(id)).title).toBe('  two  spaces  ');
  });
});

describe('text', () => {
  const TEXTS = [
    `it's "quoted" & <tagged>`,
    '$(touch pwned); `touch pwned`; && ||',
    "'; DROP TABLE tasks; --",
    '100% of _ and * and [a-z] and \\d',
    'emoji 👩‍👩‍👧‍👦 e\u0301 ﷽ \u0627\u0644',
    '{"json": ["like"]}',
    'none',
    'null',
    '-1',
  ];

  const expectSurvives = async (forge: ForgeCli, text: string): Promise<void> => {
    const flags = [`--description=${text}`, `--label=${text}`, '--meta-set=k=@-'];
    const created = await forge.with({ stdin: text }).run('task', 'create', '--json', ...flags, '--', text);
    const { id } = JSON.parse(created.stdout) as Task;
    const [shown, found, labelled] = await Promise.all([
      forge.show(id),
      forge.json<Task[]>('search', `--query=${text}`),
      forge.json<Task[]>('search', `--label=${text}`),
    ]);
    expect(shown).toMatchObject({ title: text, description: text, labels: [text], metadata: { k: text } });
    expect(found.map((task) => task.id)).toContain(id);
    expect(labelled.map((task) => task.id)).toContain(id);
    expect(project.git('status', '--porcelain', '--', 'pwned')).toBe('');
  };

  it.each(TEXTS)('%j survives as title, description, label, metadata and search', (text) =>
    expectSurvives(project, text),
  );

  it('two of them at once survive by the program too', () =>
    expectSurvives(project.program, TEXTS.slice(0, 2).join(' ')));
});

/** A project whose ids are known beforehand. */
async function withIds(...suffixes: string[]): Promise<ForgeProject> {
  const place = await forgeProjectHere();
  using db = place.openDatabase();
  const insert = db.prepare(`INSERT INTO tasks (id, title, created_at, created_by, updated_at)
    VALUES (?, ?, '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z')`);
  for (const suffix of suffixes) insert.run(`fg-${suffix}`, suffix);
  return place;
}
