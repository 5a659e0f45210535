import { afterAll, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

const project = await forgeProjectHere();
afterAll(() => project[Symbol.asyncDispose]());

const update = (id: string, ...flags: string[]): Promise<Task & { claimed?: boolean; fence?: number }> =>
  project.json('task', 'update', id, ...flags);
const close = (id: string, reason: string): Promise<Task & { unblocked: string[] }> =>
  project.json('task', 'close', id, '--reason', reason);

describe('forge task update', () => {
  it('[S87] changes title, description and priority at once, and only those', async () => {
    const task = await project.program.create(
      'before',
      '--label',
      'a',
      '--meta-set',
      'k=1',
      '--assignee',
      'ann',
    );
    const flags = ['--title', 'after', '--description', 'new *text*', '--priority', '0'];
    expect(await project.program.text('task', 'update', task.id, ...flags)).toBe(
      `Updated task ${task.id}: after`,
    );
    const shown = await project.program.show(task.id);
    expect(shown).toMatchObject({
      ...task,
      title: 'after',
      description: 'new *text*',
      priority: 0,
      updated_at: expect.any(String),
      version: 2,
    });
    expect(shown.updated_at > task.updated_at).toBe(true);
    const history = await project.program.json<{ type: string; changed: string[] }[]>(
      'task',
      'history',
      task.id,
    );
    expect(history.map(({ type, changed }) => [type, changed.toSorted()])).toEqual([
      ['task.created', []],
      ['task.updated', ['description', 'priority', 'title']],
    ]);
  });

  it('[S87] an empty description clears it; an update that changes nothing is no new version', async () => {
    const task = await project.create('same', '--description', 'old', '--label', 'a');
    const cleared = await update(task.id, '--description', '');
    expect(cleared).toMatchObject({ description: '', version: 2 });
    const same = await update(
      task.id,
      '--title',
      'same',
      '--priority',
      '2',
      '--label-add',
      'a',
      '--description',
      '',
    );
    expect(same).toEqual(cleared);
    expect(await project.json<unknown[]>('task', 'history', task.id)).toHaveLength(2);
  });

  it('[S12][S88] moves through open, in_progress and closed, each with its state', async () => {
    const { id } = await project.create('moves');
    const started = await update(id, '--status', 'in_progress');
    expect(started).toMatchObject({ status: 'in_progress', state: 'in_progress', assignee: 'Test User' });
    const closed = await update(id, '--status', 'closed');
    expect(closed).toMatchObject({
      status: 'closed',
      state: 'done',
      close_reason: 'done',
      assignee: 'Test User',
      closed_at: closed.updated_at,
    });
    const open = await update(id, '--status', 'open');
    expect(open).toMatchObject({ status: 'open', state: 'todo', assignee: null, closed_at: null });
    expect(open).not.toHaveProperty('close_reason');
    const { error, exit } = await project.fails('task', 'update', id, '--status', 'done');
    expect(exit).toBe(2);
    expect(error.message).toBe('--status: must be one of open, in_progress, closed, not "done"');
  });

  it('[S88] keeps status, state and owner in step: combinations that cannot be are refused', async () => {
    const [open, closed] = await Promise.all([project.create('open'), project.create('closed')]);
    await Promise.all([
      close(closed.id, 'done'),
      update(open.id, '--status', 'in_progress', '--assignee', 'w1'),
    ]);
    const before = await Promise.all([project.show(open.id), project.show(closed.id)]);
    const failures = await Promise.all([
      project.fails('task', 'update', open.id, '--status', 'in_progress', '--assignee', 'none'),
      project.fails('task', 'update', open.id, '--state', 'backlog'),
      project.fails('task', 'update', open.id, '--status', 'closed', '--state', 'backlog'),
      project.fails('task', 'update', closed.id, '--status', 'in_progress'),
      project.fails('task', 'update', closed.id, '--state', 'todo'),
    ]);
    expect(failures.map(({ exit, error }) => [exit, error.code])).toEqual(
      failures.map(() => [5, 'state_invalid']),
    );
    expect(failures.map(({ error }) => error.hint)).toEqual([
      `forge task update ${open.id} --status in_progress --assignee <identity>`,
      `forge release ${open.id}`,
      `forge task update ${open.id} --status open --state backlog`,
      `forge task reopen ${closed.id}`,
      `forge task reopen ${closed.id}`,
    ]);
    expect(await Promise.all([project.show(open.id), project.show(closed.id)])).toEqual(before);
  });

  it('[S19][S89] the assignee is kept word for word; none gives the task back to the queue', async () => {
    const { id } = await project.create('whose');
    expect(await update(id, '--status', 'in_progress', '--assignee', 'worker-1')).toMatchObject({
      assignee: 'worker-1',
    });
    const released = await update(id, '--assignee', 'none');
    expect(released).toMatchObject({ assignee: null, status: 'open', state: 'todo' });
    const ready = await project.json<Task[]>('ready');
    expect(ready.map((task) => task.id)).toContain(id);
    const odd = 'Änn O’Neil <ann@example.com>, agent:2';
    expect(await update(id, '--assignee', odd)).toMatchObject({ assignee: odd, status: 'open' });
    expect((await project.show(id)).assignee).toBe(odd);
    const refused = await Promise.all(
      ['', ' ', ' x', 'a\nb'].map((name) => project.run('task', 'update', id, `--assignee=${name}`)),
    );
    expect(refused.map(({ exit }) => exit)).toEqual([2, 2, 2, 2]);
    expect((await project.show(id)).assignee).toBe(odd);
  });

  it('[S90] adds and removes labels in one command; each flag repeats', async () => {
    const { id } = await project.create('labels', '--label', 'keep', '--label', 'old', '--label', 'older');
    const flags = [
      '--label-add',
      'new',
      '--label-add',
      'urgent',
      '--label-remove',
      'old',
      '--label-remove',
      'older',
    ];
    expect((await update(id, ...flags, '--label-remove', 'never there')).labels).toEqual([
      'keep',
      'new',
      'urgent',
    ]);
    expect(
      (await update(id, '--label-remove', 'keep', '--label-remove', 'new', '--label-remove', 'urgent'))
        .labels,
    ).toEqual([]);
  });

  it('[S91] sets and clears the parent and the GitHub issue', async () => {
    const [epic, task] = await Promise.all([project.create('e', '--type', 'epic'), project.create('t')]);
    expect(await update(task.id, '--parent', epic.id, '--github-issue', '47')).toMatchObject({
      parent_id: epic.id,
      github_issue: 47,
    });
    expect((await project.show(epic.id)).subtasks.map(({ id }) => id)).toEqual([task.id]);
    expect(await update(task.id, '--parent', 'none', '--github-issue', 'none')).toMatchObject({
      parent_id: null,
      github_issue: null,
    });
    expect((await project.show(epic.id)).child_count).toBe(0);
  });

  it('[S25][S92] --meta-set repeats; JSON literals are read as such and all else is text', async () => {
    const { id } = await project.create('meta', '--meta-set', 'kept=yes');
    await project.write('build.log', 'line one\n"line two"\n');
    const { metadata } = await update(
      id,
      ...flagged(
        'plan_approved=true',
        'a=b',
        'no=false',
        'nothing=null',
        'n=1.50',
        'neg=-3',
        'deep={"b":[1,{"c":null}]}',
      ),
      ...flagged(
        'list=[1, "x"]',
        'quoted="true"',
        'url=https://x.y/?a=b&c=d',
        'empty=',
        'at=@@home',
        'log=@build.log',
      ),
      ...flagged('zip=007', 'big="12345678901234567890"', 'ünï="ö"', 'time=2026-02-18T10:00:00.000Z'),
    );
    expect(new Map(Object.entries(metadata))).toEqual(
      new Map<string, unknown>([
        ['a', 'b'],
        ['at', '@home'],
        ['big', '12345678901234567890'],
        ['deep', { b: [1, { c: null }] }],
        ['empty', ''],
        ['kept', 'yes'],
        ['list', [1, 'x']],
        ['log', 'line one\n"line two"\n'],
        ['n', 1.5],
        ['neg', -3],
        ['no', false],
        ['nothing', null],
        ['plan_approved', true],
        ['quoted', 'true'],
        ['time', '2026-02-18T10:00:00.000Z'],
        ['url', 'https://x.y/?a=b&c=d'],
        ['zip', '007'],
        ['ünï', 'ö'],
      ]),
    );
    expect((await project.show(id)).metadata).toEqual(metadata);
    // Zod leaves this key out of what it parses, so the text itself is looked at.
    const special = await project.create('proto');
    for (const args of [
      ['update', special.id, '--meta-set', '__proto__={"a":1}'],
      ['show', special.id],
    ]) {
      const { stdout } = await project.run('task', ...args, '--json');
      expect(stdout).toContain('"metadata":{"__proto__":{"a":1}}');
    }
    const unset = await update(
      id,
      '--meta-unset',
      'deep',
      '--meta-unset',
      'never there',
      '--meta-set',
      'a=c',
    );
    expect(unset.metadata).toMatchObject({ a: 'c', kept: 'yes' });
    expect(unset.metadata).not.toHaveProperty('deep');
    const wrong = await Promise.all(
      ['noequals', '=x', 'x={bad', 'x=@nofile', 'x=@', 'x=12345678901234567890', 'x=1e999'].map((pair) =>
        project.run('task', 'update', id, ...flagged(pair)),
      ),
    );
    expect(wrong.map(({ exit }) => exit)).toEqual(wrong.map(() => 2));
    expect((await project.show(id)).metadata).toEqual(unset.metadata);
  });

  it('[S92] --version and --fence refuse what was changed by somebody else in between', async () => {
    const { id } = await project.create('guarded');
    const { fence } = await project.json<{ fence: number }>('claim', id, '--actor', 'w1');
    expect(await update(id, '--title', 'mine', '--version', '2', '--fence', String(fence))).toMatchObject({
      title: 'mine',
      version: 3,
    });
    await project.json('claim', id, '--actor', 'w2', '--force');
    const stale = await project.fails('task', 'update', id, '--title', 'late', '--fence', String(fence));
    const old = await project.fails('task', 'close', id, '--reason', 'late', '--version', '3');
    expect([stale, old].map(({ exit, error }) => [exit, error.code])).toEqual([
      [4, 'fence_conflict'],
      [4, 'version_conflict'],
    ]);
    expect(stale.error.details).toEqual({ id, fence: fence + 1, assignee: 'w2' });
    expect(old.error.details).toEqual({ id, version: 4 });
    expect(await project.show(id)).toMatchObject({ title: 'mine', assignee: 'w2', status: 'in_progress' });
  });

  it('refuses an update without flags, and --reason without closing', async () => {
    const { id } = await project.create('x');
    const [nothing, reason] = await Promise.all([
      project.fails('task', 'update', id),
      project.fails('task', 'update', id, '--reason', 'x'),
    ]);
    expect(nothing.stderr).toBe(
      'forge: Nothing to update: give at least one flag\n  try: forge task update --help\n',
    );
    expect(reason.error.message).toBe('--reason belongs to --status closed');
    expect((await project.show(id)).version).toBe(1);
  });
});

describe('forge task close', () => {
  it('[S12][S23][S94] closes with the reason and the time, and says so', async () => {
    const task = await project.create('finish me', '--assignee', 'ann');
    expect(task).not.toHaveProperty('close_reason');
    expect(await project.text('task', 'close', task.id, '--reason', 'Implemented in commit abc123')).toBe(
      `Closed task ${task.id}: finish me (Implemented in commit abc123)\nIt was ann's until now`,
    );
    const shown = await project.show(task.id);
    expect(shown).toMatchObject({
      status: 'closed',
      state: 'done',
      close_reason: 'Implemented in commit abc123',
      assignee: 'ann',
      closed_at: shown.updated_at,
    });
    expect(shown.closed_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // Once more changes nothing, whatever the reason.
    expect(await close(task.id, 'another reason')).toEqual(
      expect.objectContaining({ close_reason: 'Implemented in commit abc123', version: shown.version }),
    );
  });

  it('[S94] is the same as update --status closed --reason', async () => {
    const [one, other] = await Promise.all([project.create('one'), project.create('other')]);
    const [{ unblocked: _unblocked, ...closed }, updated] = await Promise.all([
      close(one.id, 'same'),
      update(other.id, '--status', 'closed', '--reason', 'same'),
    ]);
    const different = {
      id: '',
      title: '',
      created_at: '',
      updated_at: '',
      closed_at: '',
    };
    expect({ ...closed, ...different }).toEqual({ ...updated, ...different });
  });

  it('[S94] names what it frees: the tasks whose last open blocker it was', async () => {
    const [blocker, other] = await Promise.all([project.create('blocker'), project.create('other')]);
    const [freed] = await Promise.all([
      project.create('freed', '--depends-on', blocker.id),
      project.create('still waits', '--depends-on', blocker.id, '--depends-on', other.id),
    ]);
    expect(await close(blocker.id, 'done')).toMatchObject({ status: 'closed', unblocked: [freed.id] });
    expect((await close(blocker.id, 'done')).unblocked, 'it frees nothing a second time').toEqual([]);
    expect(await project.show(freed.id)).toMatchObject({ ready: true, open_blockers: 0 });
  });

  it('[S93] demands a reason where nobody can be asked', async () => {
    const { id } = await project.program.create('why');
    const [missing, blank] = await Promise.all([
      project.program.fails('task', 'close', id),
      project.program.fails('task', 'close', id, '--reason', '  '),
    ]);
    expect(missing.exit).toBe(2);
    expect(missing.stderr).toBe(
      'forge: --reason is missing\n  try: forge task close <id> --reason <reason> [flags]\n',
    );
    expect(blank.error.message).toBe('--reason: a reason is not blank and holds no NUL character');
    expect((await project.program.show(id)).status).toBe('open');
  });

  it.each([
    ['cancelled: superseded by fg-d4e5', 'cancelled'],
    ['duplicate:fg-c9d1', 'cancelled'],
    ['wontfix', 'cancelled'],
    ['Implemented; the duplicate code is gone', 'done'],
    ['  spaces, "quotes"\nand lines ', 'done'],
  ])('[S95] keeps the reason %j as it is; the state becomes %s', async (reason, state) => {
    const { id } = await project.create('reasons');
    const closed = await close(id, reason);
    expect(closed).toMatchObject({ close_reason: reason, state, status: 'closed' });
    expect(await project.show(id)).toMatchObject({ close_reason: reason, state });
  });

  it('[S12][S23] reopen takes reason, time and owner away again', async () => {
    const { id } = await project.create('again');
    await project.json('claim', id, '--actor', 'w1');
    await close(id, 'cancelled');
    expect(await project.text('task', 'reopen', id, '--reason', 'The fix did not hold')).toBe(
      `Reopened task ${id}: again`,
    );
    const shown = await project.show(id);
    expect(shown).toMatchObject({
      status: 'open',
      state: 'todo',
      assignee: null,
      closed_at: null,
      ready: true,
    });
    expect(shown).not.toHaveProperty('close_reason');
    const history = await project.json<
      { type: string; reason: string | null; from_state: string | null; to_state: string | null }[]
    >('task', 'history', id);
    expect(
      history.map(({ type, from_state, to_state, reason }) => [type, from_state, to_state, reason]),
    ).toEqual([
      ['task.created', null, null, null],
      ['task.claimed', 'todo', 'in_progress', null],
      ['task.closed', 'in_progress', 'cancelled', 'cancelled'],
      ['task.reopened', 'cancelled', 'todo', 'The fix did not hold'],
    ]);
  });
});

describe('forge task delete and restore', () => {
  it('[S39] children lose their parent and dependents their edge; restore gives all of it back', async () => {
    const [epic, blocker] = await Promise.all([
      project.create(
        'epic',
        '--type',
        'epic',
        '--label',
        'l',
        '--meta-set',
        'k=[1]',
        '--description',
        'text',
      ),
      project.create('what the epic waits for'),
    ]);
    const [child, waiting] = await Promise.all([
      project.create('child', '--parent', epic.id),
      project.create('waiting', '--depends-on', epic.id),
    ]);
    await project.json('dep', 'add', epic.id, blocker.id);
    await project.json('task', 'comment', epic.id, 'a comment');
    const before = await project.show(epic.id);
    const gone = await project.json<{ orphaned: string[]; unblocked: string[] }>('task', 'delete', epic.id);
    expect(gone).toMatchObject({ id: epic.id, title: 'epic', orphaned: [child.id], unblocked: [waiting.id] });
    const [orphan, freed, neighbour, missing] = await Promise.all([
      project.show(child.id),
      project.show(waiting.id),
      project.show(blocker.id),
      project.fails('task', 'show', epic.id),
    ]);
    expect(orphan.parent_id).toBeNull();
    expect(freed).toMatchObject({ dependencies: [], ready: true });
    expect(neighbour.dependents).toEqual([]);
    expect(missing).toMatchObject({
      exit: 3,
      error: {
        code: 'not_found',
        message: `Task ${epic.id} was deleted`,
        hint: `forge task restore ${epic.id}`,
      },
    });
    {
      using db = project.openDatabase();
      const count = (sql: string): unknown => db.prepare(`SELECT count(*) AS n FROM ${sql}`).get(epic.id);
      expect(count('tasks WHERE id = ?')).toEqual({ n: 0 });
      expect(count('dependencies WHERE ? IN (from_id, to_id)')).toEqual({ n: 0 });
    }

    const restored = await project.json('task', 'restore', epic.id);
    expect(restored).toMatchObject({ id: epic.id, title: 'epic', description: 'text', labels: ['l'] });
    const after = await project.show(epic.id);
    expect({ ...after, version: 0, updated_at: '' }).toEqual({ ...before, version: 0, updated_at: '' });
    expect((await project.show(child.id)).parent_id).toBe(epic.id);
    expect(await project.show(waiting.id)).toMatchObject({ open_blockers: 1, ready: false });
    expect((await project.fails('task', 'restore', epic.id)).exit).toBe(3);
  });

  it('[S39] says in words what it took away and how to undo it', async () => {
    const epic = await project.create('epic');
    const [child, waiting] = await Promise.all([
      project.create('child', '--parent', epic.id),
      project.create('waiting', '--depends-on', epic.id),
    ]);
    expect(await project.text('task', 'delete', epic.id)).toBe(
      `Deleted task ${epic.id}: epic\nWithout a parent now: ${child.id}\nNo longer blocked: ${waiting.id}\nUndo: forge task restore ${epic.id}`,
    );
    expect(await project.text('task', 'restore', epic.id)).toBe(`Restored task ${epic.id}: epic`);
    const history = await project.json<{ summary: string }[]>('task', 'history', epic.id);
    expect(history.map(({ summary }) => summary)).toEqual(['created: epic', 'deleted', 'restored']);
  });
});

describe('what stays when something else changes', () => {
  it('[S130] scalar updates and moves keep labels, dependencies, metadata, comments and parent', async () => {
    const [epic, blocker] = await Promise.all([project.create('e'), project.create('b')]);
    const flags = [
      '--label',
      'l',
      '--meta-set',
      'k={"v":1}',
      '--parent',
      epic.id,
      '--depends-on',
      blocker.id,
    ];
    const { id } = await project.create('t', ...flags);
    await project.json('task', 'comment', id, 'c');
    const kept = ({
      labels,
      dependencies,
      metadata,
      comments,
      parent_id,
    }: Awaited<ReturnType<typeof project.show>>) => ({
      labels,
      dependencies,
      metadata,
      comments,
      parent_id,
    });
    const before = kept(await project.show(id));
    await update(id, '--title', 't2');
    // [S393] What still waits is not claimed by an update either; by force it is.
    const { error } = await project.fails('task', 'update', id, '--status', 'in_progress', '--assignee', 'w');
    expect(error.code).toBe('dependency_gate');
    await project.json('claim', id, '--assignee', 'w', '--force');
    await close(id, 'done');
    await project.json('task', 'reopen', id);
    await update(id, '--state', 'backlog');
    expect(kept(await project.show(id))).toEqual(before);
  });
});

function flagged(...pairs: string[]): string[] {
  return pairs.flatMap((pair) => ['--meta-set', pair]);
}
