import { afterAll, describe, expect, it } from 'vitest';
import { PRIORITY_NAMES, TASK_TYPES, type Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

const project = await forgeProjectHere();
afterAll(() => project[Symbol.asyncDispose]());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('forge task create', () => {
  it('[S83] prints "Created task <id>: <title>" and nothing else', async () => {
    const printed = await project.program.text(
      'task',
      'create',
      'Add user authentication',
      '--type',
      'feature',
      '--priority',
      '1',
    );
    expect(printed).toMatch(/^Created task fg-[0-9a-z]{4}: Add user authentication$/);
    const [, id = ''] = /^Created task (\S+):/.exec(printed) ?? [];
    expect(await project.program.show(id)).toMatchObject({
      title: 'Add user authentication',
      type: 'feature',
      priority: 1,
    });
  });

  it('[S12][S15][S18][S19][S23][S28][S84][S341] a bare title gives an open task in todo with every default', async () => {
    const before = Date.now();
    const task = await project.create('bare');
    const after = Date.now();
    expect(task).toEqual({
      id: expect.stringMatching(/^fg-[0-9a-z]{4}$/),
      title: 'bare',
      description: '',
      status: 'open',
      state: 'todo',
      priority: 2,
      type: 'task',
      assignee: null,
      parent_id: null,
      dependencies: [],
      labels: [],
      github_issue: null,
      created_at: expect.stringMatching(ISO),
      created_by: 'Test User',
      updated_at: task.created_at,
      closed_at: null,
      metadata: {},
      version: 1,
    });
    expect(Date.parse(task.created_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(task.created_at)).toBeLessThanOrEqual(after);
    expect(Object.keys(task)).not.toContain('close_reason');
  });

  it('[S20][S22][S25][S82] takes every flag at once, and show gives all of it back', async () => {
    const [epic, blocker] = await Promise.all([
      project.create('epic', '--type', 'epic'),
      project.create('blocker'),
    ]);
    const description =
      '# JWT\n\n- reads `Authorization`\n\n## Acceptance Criteria\n- [ ] 401 without a token\n';
    const graph = [
      '--parent',
      epic.id,
      '--depends-on',
      blocker.id,
      '--assignee',
      'worker-1',
      '--state',
      'backlog',
    ];
    const facts = ['--type', 'bug', '--priority', '0', '--github-issue', '47', '--description', description];
    const labels = ['--label', 'crash', '--label', 'auth', '--label', 'crash'];
    const metadata = ['--meta-set', 'plan_approved=true', '--meta-set', 'pr_url=https://example.com/?a=b'];
    const created = await project.create(
      'Implement JWT middleware',
      ...graph,
      ...facts,
      ...labels,
      ...metadata,
    );
    expect(created).toMatchObject({
      title: 'Implement JWT middleware',
      type: 'bug',
      priority: 0,
      parent_id: epic.id,
      assignee: 'worker-1',
      labels: ['auth', 'crash'],
      github_issue: 47,
      description,
      dependencies: [{ id: blocker.id, type: 'blocks' }],
      status: 'open',
      state: 'backlog',
      metadata: { plan_approved: true, pr_url: 'https://example.com/?a=b' },
    });
    const { dependencies, ...rest } = created;
    const shown = await project.show(created.id);
    expect(shown).toMatchObject(rest);
    expect(shown.dependencies.map(({ id, type }) => ({ id, type }))).toEqual(dependencies);
  });

  it('[S82] the description may come from a file or from standard input, byte for byte', async () => {
    const text = '## Summary\n\n\ttabs, "quotes", $HOME, ünïcödé 😀\n\n';
    await project.write('specs/jwt.md', text);
    const [fromFile, fromStdin] = await Promise.all([
      project.program.create('file', '--description-file', 'specs/jwt.md'),
      project.program.with({ stdin: text }).create('stdin', '--description-file', '-'),
    ]);
    expect([fromFile.description, fromStdin.description]).toEqual([text, text]);
    const both = project.program.fails(
      'task',
      'create',
      'x',
      '--description',
      'a',
      '--description-file',
      'specs/jwt.md',
    );
    const missing = project.program.fails('task', 'create', 'x', '--description-file', 'specs/none.md');
    expect((await both).exit).toBe(2);
    expect((await missing).error.message).toBe('--description-file: specs/none.md does not exist');
  });

  it('[S13] knows the types task, bug, feature, epic and message, and no other', async () => {
    const made = await Promise.all(TASK_TYPES.map((type) => project.create(`a ${type}`, '--type', type)));
    expect(made.map(({ type }) => type)).toEqual(['task', 'bug', 'feature', 'epic', 'message']);
    const { exit, error } = await project.fails('task', 'create', 'x', '--type', 'foo');
    expect(exit).toBe(2);
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: '--type: must be one of task, bug, feature, epic, message, not "foo"',
      details: { issues: [{ field: 'type' }] },
    });
  });

  it('[S15] knows priorities 0 to 4, which show calls critical to backlog', async () => {
    const made = await Promise.all(
      ['0', '1', '2', '3', '4'].map((priority) => project.create(`p${priority}`, '--priority', priority)),
    );
    const shown = await Promise.all(made.map(({ id }) => project.text('task', 'show', id)));
    shown.forEach((text, priority) => {
      expect(text).toContain(`\nPriority  ${priority} ${PRIORITY_NAMES[priority]}\n`);
    });
    expect(PRIORITY_NAMES).toEqual(['critical', 'high', 'medium', 'low', 'backlog']);
    const wrong = ['5', '-1', '1.5', 'high', '', '1e0', '0x1', ' 1'];
    const failures = await Promise.all(
      wrong.map((value) => project.run('task', 'create', 'x', `--priority=${value}`)),
    );
    expect(failures.map(({ exit }) => exit)).toEqual(wrong.map(() => 2));
  });

  it('[S17] refuses a title with a line break, and one that is blank or too long', async () => {
    const wrong = ['a\nb', 'a\r\nb', 'a\u2028b', '', '   ', '\t', 'x'.repeat(501)];
    const results = await Promise.all(wrong.map((title) => project.run('task', 'create', title)));
    expect(results.map(({ exit }) => exit)).toEqual(wrong.map(() => 2));
    expect(results[0]?.stderr).toBe(
      'forge: <title>: a title is one line and not blank, without control characters\n  try: forge task create --help\n',
    );
    expect(results.at(-1)?.stderr).toContain('a title has at most 500 characters');
    const longest = await project.create('ü'.repeat(500));
    expect((await project.show(longest.id)).title).toBe('ü'.repeat(500));
  });

  it('[S20] a parent may be named by the beginning of its id; an unknown one is refused', async () => {
    const parent = await project.create('parent');
    const child = await project.create('child', '--parent', parent.id.slice(3));
    expect(child.parent_id).toBe(parent.id);
    expect(await project.fails('task', 'create', 'x', '--parent', 'fg-none-at-all')).toMatchObject({
      exit: 3,
      error: { code: 'not_found', message: 'No task fg-none-at-all' },
    });
  });

  it('[S24] created_by is who asks, word for word: flag, FORGE_ACTOR, git', async () => {
    await project.text('agent', 'add', 'claude-opus-4-6');
    const [flag, env, kind, git] = await Promise.all([
      project.with({ env: { FORGE_ACTOR: 'other' } }).create('x', '--actor', 'claude-opus-4-6'),
      project.with({ env: { FORGE_ACTOR: 'orchestrator' } }).create('x'),
      project.with({ env: { FORGE_ACTOR: 'agent:worker-1' } }).create('x'),
      project.create('x'),
    ]);
    expect([flag, env, kind, git].map(({ created_by }) => created_by)).toEqual([
      'claude-opus-4-6',
      'orchestrator',
      'worker-1',
      'Test User',
    ]);
    const histories = await Promise.all(
      [flag, env, kind, git].map(({ id }) => project.json<{ triggered_by: string }[]>('task', 'history', id)),
    );
    expect(histories.map(([first]) => first?.triggered_by)).toEqual([
      'agent:claude-opus-4-6',
      'agent:orchestrator',
      'agent:worker-1',
      'user:Test User',
    ]);
  });

  it('[S22] labels are a set; github_issue is a whole number from 1', async () => {
    const task = await project.create(
      'x',
      '--label',
      'a b',
      '--label',
      'ü',
      '--label',
      'a,b',
      '--label',
      'ü',
    );
    expect(task.labels.toSorted()).toEqual(['a b', 'a,b', 'ü']);
    const wrong = [
      ['--label', ''],
      ['--label', ' a'],
      ['--label', 'a\nb'],
      ['--github-issue', '0'],
      ['--github-issue', '-4'],
      ['--github-issue', '#47'],
    ];
    const results = await Promise.all(
      wrong.map(([flag, value]) => project.run('task', 'create', 'x', `${flag}=${value}`)),
    );
    expect(results.map(({ exit }) => exit)).toEqual(wrong.map(() => 2));
  });

  it('[S28][S29] ids are the prefix and four base36 characters, and get longer as the project grows', async () => {
    await using small = await forgeProjectHere({ prefix: 'zz' });
    using db = small.openDatabase();
    const fill = (rows: number): void => {
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
        INSERT INTO tasks (id, title, created_at, created_by, updated_at)
        SELECT 'zz-fill' || i, 'x', '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z' FROM n
        WHERE true ON CONFLICT DO NOTHING`);
    };
    const first = await Promise.all(Array.from({ length: 8 }, () => small.create('x')));
    for (const { id } of first) expect(id).toMatch(/^zz-[0-9a-z]{4}$/);
    fill(172); // 180 tasks
    expect((await small.create('x')).id).toMatch(/^zz-[0-9a-z]{4}$/);
    fill(190);
    expect((await small.create('x')).id).toMatch(/^zz-[0-9a-z]{5}$/);
    fill(1_200);
    expect((await small.create('x')).id).toMatch(/^zz-[0-9a-z]{6}$/);
  });

  it('[S30] no id comes twice: ten thousand tasks there, and twenty processes that add one each at once', async () => {
    await using big = await forgeProjectHere();
    using db = big.openDatabase();
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
      INSERT INTO tasks (id, title, created_at, created_by, updated_at)
      SELECT printf('fg-%04d', i), 'x', '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z' FROM n`);
    const made = await Promise.all(Array.from({ length: 20 }, (_, at) => big.program.create(`new ${at}`)));
    const known = db.prepare('SELECT count(*) AS n, count(DISTINCT id) AS ids FROM tasks').get();
    expect(known).toEqual({ n: 10_020, ids: 10_020 });
    expect(new Set(made.map(({ id }) => id)).size).toBe(20);
    for (const { id, title } of made) {
      expect(db.prepare('SELECT title FROM tasks WHERE id = ?').get(id)).toEqual({ title });
    }
  });
});

describe('forge task show', () => {
  it('[S21][S63][S64][S86] resolves dependencies and dependents with type, title, status, priority and assignee', async () => {
    const [a, b, c, d] = await Promise.all([
      project.create('needs b and c', '--priority', '3'),
      project.create('b', '--priority', '1'),
      project.create('c', '--priority', '4'),
      project.create('d needs b too', '--priority', '0'),
    ]);
    await project.json('dep', 'add', a.id, b.id);
    await project.json('dep', 'add', a.id, c.id, '--type', 'related');
    await project.json('dep', 'add', d.id, b.id, '--type', 'discovered-from');
    await project.json('task', 'update', b.id, '--status', 'in_progress', '--assignee', 'worker-1');
    const [shownA, shownB] = await Promise.all([project.show(a.id), project.show(b.id)]);
    const resolvedB = {
      title: 'b',
      status: 'in_progress',
      state: 'in_progress',
      priority: 1,
      assignee: 'worker-1',
    };
    const resolvedC = { title: 'c', status: 'open', state: 'todo', priority: 4, assignee: null };
    expect(shownA.dependencies).toEqual(
      [
        { id: b.id, type: 'blocks', resolved: resolvedB },
        { id: c.id, type: 'related', resolved: resolvedC },
      ].toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    );
    expect(shownA).toMatchObject({ open_blockers: 1, ready: false, dependents: [] });
    expect(shownB.dependencies).toEqual([]);
    // By priority, then age.
    expect(shownB.dependents).toEqual([
      {
        id: d.id,
        type: 'discovered-from',
        resolved: { title: 'd needs b too', status: 'open', state: 'todo', priority: 0, assignee: null },
      },
      {
        id: a.id,
        type: 'blocks',
        resolved: { title: 'needs b and c', status: 'open', state: 'todo', priority: 3, assignee: null },
      },
    ]);
    // The task itself keeps the plain form.
    const [listed] = await project.json<Task[]>('search', '--query', 'needs b and c');
    expect(listed?.dependencies).toEqual(shownA.dependencies.map(({ id, type }) => ({ id, type })));
  });

  it('[S27][S65] an epic lists its subtasks by priority, then age, and counts them', async () => {
    const epic = await project.create('epic', '--type', 'epic', '--meta-set', 'owner="ann"');
    const late = await project.create('late', '--parent', epic.id, '--priority', '3');
    const first = await project.create('first', '--parent', epic.id, '--priority', '1');
    const second = await project.create('second', '--parent', epic.id, '--priority', '1');
    await project.json('task', 'close', second.id, '--reason', 'done');
    const shown = await project.show(epic.id);
    expect(shown.subtasks).toEqual([
      { ...summary(first), status: 'open', state: 'todo' },
      { ...summary(second), status: 'closed', state: 'done' },
      { ...summary(late), status: 'open', state: 'todo' },
    ]);
    expect(shown).toMatchObject({ child_count: 3, closed_child_count: 1 });
    expect(shown.metadata).toEqual({ owner: 'ann', child_count: 3, closed_child_count: 1 });
  });

  it('[S85] prints a summary with dependencies, subtasks, metadata and comments', async () => {
    const epic = await project.create('The epic', '--type', 'epic', '--priority', '0', '--label', 'core');
    const blocker = await project.create('The blocker', '--priority', '1');
    const graph = ['--parent', epic.id, '--depends-on', blocker.id, '--assignee', 'w1'];
    const facts = ['--description', '# Head\n\nbody', '--label', 'b', '--label', 'a', '--github-issue', '12'];
    const metadata = ['--meta-set', 'plan_approved=true', '--meta-set', 'note=two\nlines'];
    const task = await project.create('The task', ...graph, ...facts, ...metadata);
    const child = await project.create('The child', '--parent', task.id);
    const comment = await project.json<{ id: string; created_at: string }>(
      'task',
      'comment',
      task.id,
      'First\nsecond line',
    );
    const reply = await project.json<{ id: string; created_at: string }>(
      'task',
      'comment',
      task.id,
      'Agreed',
      '--reply-to',
      comment.id,
      '--actor',
      'bob',
    );
    await project.json('task', 'close', child.id, '--reason', 'done');
    expect(await project.text('task', 'show', task.id)).toBe(
      `${task.id}  The task  [open]

Status    open (todo), waits for 1
Priority  2 medium
Type      task
Owner     w1
Parent    ${epic.id}
Labels    a, b
GitHub    #12
Created   ${task.created_at} by Test User
Updated   ${(await project.show(task.id)).updated_at}

  # Head

  body

Depends on
  └─ blocks ${blocker.id}  The blocker  [open]  P1

Subtasks (1 of 1 closed)
  ${child.id}  The child  [closed]

Metadata
  note = two
  lines
  plan_approved = true

Comments
  ${comment.id}  ${comment.created_at}  Test User
    First
    second line
    ${reply.id}  ${reply.created_at}  bob
      Agreed`,
    );
    expect(await project.text('task', 'show', blocker.id)).toContain(
      `\n\nNeeded by\n  └─ blocks ${task.id}  The task  [open]  P2  w1`,
    );
  });

  it('[S340] comments of people and agents are kept with their threads', async () => {
    const { id } = await project.create('talk');
    const say = (body: string, ...flags: string[]): Promise<{ id: string; task_id: string }> =>
      project.json('task', 'comment', id, body, ...flags);
    const root = await say('The parser also drops tabs');
    const agent = await say('Confirmed', '--reply-to', root.id, '--actor', 'worker-1');
    const deeper = await say('Then fix it', '--reply-to', agent.id);
    await project.with({ stdin: 'from a file\n' }).json('task', 'comment', id, '--body-file', '-');
    const { comments } = await project.show(id);
    expect(comments.map(({ author, body, reply_to }) => ({ author, body, reply_to }))).toEqual([
      { author: 'Test User', body: 'The parser also drops tabs', reply_to: null },
      { author: 'worker-1', body: 'Confirmed', reply_to: root.id },
      { author: 'Test User', body: 'Then fix it', reply_to: agent.id },
      { author: 'Test User', body: 'from a file\n', reply_to: null },
    ]);
    expect(new Set(comments.map((comment) => comment.id)).size).toBe(4);
    expect(comments[2]?.id).toBe(deeper.id);
    const text = await project.text('task', 'show', id);
    expect(text).toMatch(
      /\n {2}c-\S+ .* Test User\n {4}The parser.*\n {4}c-\S+ .* worker-1\n {6}Confirmed\n {6}c-/,
    );
    expect(await project.fails('task', 'comment', id, 're', '--reply-to', 'c-none')).toMatchObject({
      exit: 3,
      error: { code: 'not_found', message: `No comment c-none on ${id}` },
    });
    expect((await project.fails('task', 'comment', id, ' \n ')).exit).toBe(2);
    expect((await project.show(id)).comments).toHaveLength(4);
  });

  it('shows text of others without letting it move the cursor or hide', async () => {
    const nasty = 'hidden \u200b text \u200f reversed';
    const { id } = await project.create(nasty, '--description', '\u001b]0;title\u0007', '--label', '\u200bx');
    const [plain, listed, json] = await Promise.all([
      project.text('task', 'show', id),
      project.text('search', '--query', 'reversed'),
      project.show(id),
    ]);
    expect(plain).not.toMatch(/[\u001b\u0007\u200f\u200b]/);
    expect(listed).not.toMatch(/[\u200f\u200b]/);
    expect(plain).toContain('hidden \\u200b text \\u200f reversed');
    expect(json.title).toBe(nasty);
  });
});

function summary({ id, title, priority, type, assignee }: Task): Partial<Task> {
  return { id, title, priority, type, assignee };
}
