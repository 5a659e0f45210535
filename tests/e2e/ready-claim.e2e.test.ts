import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { TASK_TYPES, type Task, type TaskSummary } from '#contract/task.ts';
import { forgeProject, type ForgeCli } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

type Claimed = Task & { claimed: true; fence: number };
type Explained = TaskSummary & { ready: boolean; reasons: string[]; blockers: { id: string }[] };

const titles = async (forge: ForgeCli, ...flags: string[]): Promise<string[]> =>
  (await forge.json<Task[]>('ready', ...flags)).map(({ title }) => title);

describe('forge ready', () => {
  it('[S59][S62][S98] is what is open, unassigned and without an open blocker; only blocks blocks', async () => {
    await using project = await forgeProjectHere();
    const blocker = await project.create('blocker');
    const [blocked, related, discovered, reserved, started, closed] = await Promise.all([
      project.create('blocked', '--depends-on', blocker.id),
      project.create('related'),
      project.create('discovered'),
      project.create('reserved', '--assignee', 'ann'),
      project.create('started'),
      project.create('closed'),
      project.create('parked', '--state', 'backlog'),
    ]);
    await Promise.all([
      project.json('dep', 'add', related.id, blocker.id, '--type', 'related'),
      project.json('dep', 'add', discovered.id, blocker.id, '--type', 'discovered-from'),
      project.json('claim', started.id, '--actor', 'w1'),
      project.json('task', 'close', closed.id, '--reason', 'done'),
    ]);
    expect((await titles(project)).toSorted()).toEqual(['blocker', 'discovered', 'related']);

    // An owner of the blocker does not free what waits for it; only closing does, whatever the reason.
    await project.json('claim', blocker.id, '--actor', 'w2');
    expect((await titles(project)).toSorted()).toEqual(['discovered', 'related']);
    await project.json('task', 'close', blocker.id, '--reason', 'cancelled: not needed');
    expect((await titles(project)).toSorted()).toEqual(['blocked', 'discovered', 'related']);
    await project.json('task', 'reopen', blocker.id);
    expect((await titles(project)).toSorted()).toEqual(['blocker', 'discovered', 'related']);

    // Giving things back, too.
    await Promise.all([
      project.json('task', 'update', reserved.id, '--assignee', 'none'),
      project.json('release', started.id, '--actor', 'w1'),
      project.json('task', 'reopen', closed.id),
      project.json('dep', 'remove', blocked.id, blocker.id),
    ]);
    expect((await titles(project)).toSorted()).toEqual(
      ['blocked', 'blocker', 'closed', 'discovered', 'related', 'reserved', 'started'].toSorted(),
    );
  });

  it('[S60][S98] comes by priority, then age, then id; --limit cuts and --fields chooses', async () => {
    await using project = await forgeProjectHere();
    const second = await project.create('second', '--priority', '1');
    const last = await project.create('last', '--priority', '4');
    const first = await project.create('first', '--priority', '0');
    const third = await project.create('third', '--priority', '1');
    const ids = [first, second, third, last].map(({ id }) => id);
    const ready = await project.json<Task[]>('ready');
    expect(ready.map(({ id }) => id)).toEqual(ids);
    expect(ready[0]).toEqual(first);
    expect(await project.json<Task[]>('ready', '--limit', '2', '--fields', 'title,id')).toEqual([
      { title: 'first', id: ids[0] },
      { title: 'second', id: ids[1] },
    ]);
    {
      using db = project.openDatabase();
      db.exec("UPDATE tasks SET priority = 2, created_at = '2026-01-01T00:00:00.000Z'");
    }
    expect((await project.json<Task[]>('ready')).map(({ id }) => id)).toEqual(ids.toSorted());
  });

  it('[S14] offers every type, messages too, and leaves out what ready.excludeTypes names', async () => {
    await using project = await forgeProjectHere();
    await Promise.all(TASK_TYPES.map((type) => project.create(type, '--type', type)));
    expect((await titles(project)).toSorted()).toEqual([...TASK_TYPES].toSorted());
    const config = JSON.parse(await project.read('.forge/config.json')) as object;
    await project.write(
      '.forge/config.json',
      JSON.stringify({ ...config, ready: { excludeTypes: ['message', 'epic'] } }),
    );
    expect((await titles(project)).toSorted()).toEqual(['bug', 'feature', 'task']);
    // Asked for by name it is shown.
    expect(await titles(project, '--type', 'message')).toEqual(['message']);
    const taken = await Promise.all(
      Array.from({ length: 4 }, () =>
        project.run('claim', '--next', '--actor', 'w', '--json', '--fields', 'title'),
      ),
    );
    expect(taken.map(({ exit }) => exit).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 3]);
    const stats = await project.json<{ ready: number }>('stats');
    expect(stats.ready).toBe(0);
  });

  it('[S96] --assignee adds what is reserved for that identity, in order; none is the plain list', async () => {
    await using project = await forgeProjectHere();
    const free = await project.create('free', '--priority', '1');
    await project.create('for w1', '--assignee', 'w1', '--priority', '0');
    await project.create('for w2', '--assignee', 'w2', '--priority', '0');
    await project.create('for w1, blocked', '--assignee', 'w1', '--depends-on', free.id);
    await project.create('for w1, late', '--assignee', 'w1', '--priority', '4');
    expect(await titles(project, '--assignee', 'w1')).toEqual(['for w1', 'free', 'for w1, late']);
    expect(await titles(project, '--assignee', 'none')).toEqual(['free']);
    expect(await titles(project, '--assignee', 'nobody-known')).toEqual(['free']);
    expect(await titles(project, '--assignee', 'w1', '--limit', '1')).toEqual(['for w1']);
    // What is reserved can be claimed by its owner alone.
    const [reserved] = await project.json<Task[]>('search', '--assignee', 'w1', '--priority', '0');
    const id = reserved?.id ?? '';
    expect((await project.fails('claim', id, '--actor', 'w2')).error).toMatchObject({
      code: 'claim_conflict',
      details: { id, assignee: 'w1', status: 'open' },
    });
    expect(await project.json<Claimed>('claim', id, '--actor', 'w1')).toMatchObject({
      claimed: true,
      status: 'in_progress',
    });
  });

  it('[S97] --type and --label filter; text is a table and says when nothing is ready', async () => {
    await using project = await forgeProjectHere();
    expect(await project.text('ready')).toBe(
      'Nothing is ready. `forge ready --explain` says why; `forge task create "…"` makes a task.',
    );
    const [feature, bug] = await Promise.all([
      project.create('a feature', '--type', 'feature', '--label', 'web', '--label', 'x y'),
      project.create('a bug', '--type', 'bug', '--priority', '0', '--label', 'web'),
    ]);
    expect(await titles(project, '--type', 'feature')).toEqual(['a feature']);
    expect(await titles(project, '--label', 'web')).toEqual(['a bug', 'a feature']);
    expect(await titles(project, '--label', 'x y')).toEqual(['a feature']);
    expect(await titles(project, '--label', 'x')).toEqual([]);
    expect(await project.text('ready')).toBe(
      `ID       PRI  TYPE     TITLE      LABELS
${bug.id}  P0   bug      a bug      web
${feature.id}  P2   feature  a feature  web, x y`,
    );
    const wrong = await Promise.all([
      project.fails('ready', '--type', 'foo'),
      project.fails('ready', '--sort', 'age'),
      project.fails('ready', '--limit', '0'),
    ]);
    expect(wrong.map(({ exit }) => exit)).toEqual([2, 2, 2]);
  });

  it('[S59] --explain gives a reason for every task that is not closed, and agrees with the list', async () => {
    await using project = await forgeProjectHere();
    const a = await project.create('a');
    const [b, c, d, e] = await Promise.all([
      project.create('b', '--depends-on', a.id),
      project.create('c', '--state', 'backlog'),
      project.create('d', '--assignee', 'ann'),
      project.create('e'),
    ]);
    await project.json('claim', e.id, '--actor', 'w1');
    const explained = await project.json<Explained[]>('ready', '--explain');
    const byId = new Map(explained.map((row) => [row.id, row]));
    expect(byId.get(a.id)).toMatchObject({ ready: true, reasons: ['open, unassigned, no open blocker'] });
    expect(byId.get(b.id)).toMatchObject({
      ready: false,
      reasons: [`waits for ${a.id} (open)`],
      blockers: [{ id: a.id, title: 'a', status: 'open' }],
    });
    expect([c, d, e].map(({ id }) => byId.get(id)?.reasons)).toEqual([
      ['parked in backlog'],
      ['reserved for ann'],
      ['in progress with w1'],
    ]);
    expect(explained.filter(({ ready }) => ready).map(({ id }) => id)).toEqual(
      (await project.json<Task[]>('ready')).map(({ id }) => id),
    );
    expect(await project.json<{ id: string; blockers: { id: string }[] }[]>('blocked')).toMatchObject([
      { id: b.id, blockers: [{ id: a.id, title: 'a', status: 'open', assignee: null }] },
    ]);
    expect(await project.text('blocked')).toBe(`${b.id}  b\n  waits for ${a.id}  a  [open]`);
  });

  it('--sort impact puts first what the longest chain of open work waits for', async () => {
    await using project = await forgeProjectHere();
    const alone = await project.create('alone', '--priority', '0');
    const root = await project.create('root', '--priority', '4');
    const middle = await project.create('middle', '--depends-on', root.id);
    await project.create('end', '--depends-on', middle.id);
    const wide = await project.create('wide');
    await Promise.all([
      project.create('w1', '--depends-on', wide.id),
      project.create('w2', '--depends-on', wide.id),
    ]);
    const ready = await project.json<(Task & { impact: object })[]>('ready', '--sort', 'impact');
    expect(ready.map(({ id, impact }) => [id, impact])).toEqual([
      [root.id, { critical_path: 2, unblocks: 1 }],
      [wide.id, { critical_path: 1, unblocks: 2 }],
      [alone.id, { critical_path: 0, unblocks: 0 }],
    ]);
  });
});

describe('claiming', () => {
  it('[S67] sets in_progress, the owner and updated_at, and gives the fence of the claim', async () => {
    await using project = await forgeProjectHere();
    const task = await project.create('claim me');
    const claimed = await project.json<Claimed>('claim', task.id, '--actor', 'worker-1');
    expect(claimed).toEqual({
      ...task,
      status: 'in_progress',
      state: 'in_progress',
      assignee: 'worker-1',
      updated_at: claimed.updated_at,
      version: 2,
      claimed: true,
      fence: 1,
    });
    expect(claimed.updated_at > task.updated_at).toBe(true);
    const { claimed: _claimed, fence: _fence, ...stored } = claimed;
    expect(await project.show(task.id)).toMatchObject(stored);
    // Again by the owner: the same claim. By another: a conflict that names the owner.
    expect(await project.json<Claimed>('task', 'claim', task.id, '--actor', 'worker-1')).toEqual(claimed);
    const lost = await project.fails('claim', task.id, '--actor', 'worker-2');
    expect(lost.stderr).toBe(`forge: ${task.id} belongs to worker-1\n  try: forge claim --next\n`);
    expect(lost).toMatchObject({ exit: 4, error: { code: 'claim_conflict' } });
    // --assignee claims for somebody else; the history knows who did it.
    await project.json('release', task.id, '--actor', 'worker-1');
    await project.json('claim', task.id, '--assignee', 'worker-3', '--actor', 'orchestrator');
    const history = await project.json<{ triggered_by: string; summary: string }[]>(
      'task',
      'history',
      task.id,
    );
    expect(history.map(({ triggered_by, summary }) => [triggered_by, summary])).toEqual([
      ['user:Test User', 'created: claim me'],
      ['agent:worker-1', 'claimed by worker-1'],
      ['agent:worker-1', 'released'],
      ['agent:orchestrator', 'claimed by worker-3'],
    ]);
  });

  it('[S66] the update form is conditional: it takes what is open and unassigned, and nothing else', async () => {
    await using project = await forgeProjectHere();
    const task = await project.create('by update');
    const claim = (who: string, ...more: string[]): Promise<Task & { claimed?: boolean; fence?: number }> =>
      project.json('task', 'update', task.id, '--status', 'in_progress', '--assignee', who, ...more);
    expect(await claim('w1')).toMatchObject({ claimed: true, fence: 1, assignee: 'w1' });
    const owned = await project.show(task.id);
    expect(await claim('w2', '--title', 'stolen', '--label-add', 'x')).toMatchObject({
      claimed: false,
      assignee: 'w1',
      status: 'in_progress',
      title: 'by update',
    });
    expect(await project.show(task.id), 'a lost claim changes nothing').toEqual(owned);
    const text = await project.run('task', 'update', task.id, '--status', 'in_progress', '--assignee', 'w2');
    expect(text).toEqual({
      exit: 0,
      stdout: `Not claimed: ${task.id} is in_progress with w1\n`,
      stderr: '',
    });
    expect(await claim('w1'), 'one’s own again').toMatchObject({ claimed: true, fence: 1 });
    await project.json('task', 'close', task.id, '--reason', 'done');
    const late = await project.fails(
      'task',
      'update',
      task.id,
      '--status',
      'in_progress',
      '--assignee',
      'w2',
    );
    expect(late.error.code, 'as the strict form says').toBe('state_invalid');
  });

  it('[S66] of eight claims at once exactly one wins, in either form', async () => {
    await using project = await forgeProject();
    const workers = Array.from({ length: 8 }, (_, at) => `w${at}`);
    const [strict, loop] = await Promise.all([project.create('strict'), project.create('loop')]);
    const claims = await Promise.all(
      workers.map((who) => project.run('claim', strict.id, '--actor', who, '--json')),
    );
    expect(claims.map(({ exit }) => exit).toSorted((a, b) => a - b)).toEqual([0, 4, 4, 4, 4, 4, 4, 4]);
    const owner = (await project.show(strict.id)).assignee;
    expect(workers[claims.findIndex(({ exit }) => exit === 0)]).toBe(owner);

    const updates = await Promise.all(
      workers.map((who) =>
        project.json<Claimed>('task', 'update', loop.id, '--status', 'in_progress', '--assignee', who),
      ),
    );
    const winner = (await project.show(loop.id)).assignee;
    expect(updates.filter(({ claimed }) => claimed).map(({ assignee }) => assignee)).toEqual([winner]);
    expect(new Set(updates.map(({ assignee }) => assignee)), 'everybody sees the owner').toEqual(
      new Set([winner]),
    );
  });

  it('[S66] eight workers with --next empty the queue: every task once, none twice, none left', async () => {
    await using project = await forgeProject();
    using db = project.openDatabase();
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
      INSERT INTO tasks (id, title, priority, created_at, created_by, updated_at)
      SELECT printf('fg-%04d', i), 'task ' || i, i % 5, '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z' FROM n`);
    const work = async (who: string): Promise<string[]> => {
      const mine: string[] = [];
      for (;;) {
        const { exit, stdout } = await project.run(
          'claim',
          '--next',
          '--actor',
          who,
          '--json',
          '--fields',
          'id',
        );
        if (exit === 3) return mine;
        assert.equal(exit, 0);
        mine.push((JSON.parse(stdout) as { id: string }).id);
      }
    };
    const taken = await Promise.all(Array.from({ length: 8 }, (_, at) => work(`w${at}`)));
    expect(taken.flat()).toHaveLength(20);
    expect(new Set(taken.flat()).size).toBe(20);
    const rows = db.prepare("SELECT id, assignee FROM tasks WHERE status = 'in_progress' ORDER BY id").all();
    const expected = taken
      .flatMap((ids, at) => ids.map((id) => ({ id, assignee: `w${at}` })))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(rows.map((row) => ({ ...row }))).toEqual(expected);
  });

  it('refuses what is blocked, parked or closed, and says what to do; --force takes it and is logged', async () => {
    await using project = await forgeProjectHere();
    const blocker = await project.create('blocker');
    const [blocked, parked, closed] = await Promise.all([
      project.create('blocked', '--depends-on', blocker.id),
      project.create('parked', '--state', 'backlog'),
      project.create('closed'),
    ]);
    await project.json('task', 'close', closed.id, '--reason', 'done');
    const failures = await Promise.all(
      [blocked, parked, closed].map(({ id }) => project.fails('claim', id, '--actor', 'w1')),
    );
    expect(failures.map(({ exit, error }) => [exit, error.code, error.message, error.hint])).toEqual([
      [5, 'dependency_gate', `${blocked.id} waits for ${blocker.id}`, `forge dep tree ${blocked.id}`],
      [
        5,
        'state_invalid',
        `${parked.id} is parked in backlog`,
        `forge task update ${parked.id} --state todo`,
      ],
      [5, 'state_invalid', `${closed.id} is closed`, `forge task reopen ${closed.id}`],
    ]);
    expect(await project.json<Claimed>('claim', blocked.id, '--actor', 'w1', '--force')).toMatchObject({
      assignee: 'w1',
    });
    expect(await project.json<Claimed>('claim', blocked.id, '--actor', 'w2', '--force')).toMatchObject({
      assignee: 'w2',
      fence: 2,
    });
    const history = await project.json<{ reason: string | null }[]>('task', 'history', blocked.id);
    expect(history.map(({ reason }) => reason)).toEqual([null, 'forced', 'forced']);
    const usage = await Promise.all([
      project.fails('claim'),
      project.fails('claim', blocked.id, '--next'),
      project.fails('claim', '--next', '--force'),
      project.fails('claim', blocked.id, '--type', 'bug'),
    ]);
    expect(usage.map(({ error }) => error.code)).toEqual(Array(4).fill('usage'));
  });

  it('claim --next takes the first ready one of a type or label, and exits 3 when there is none', async () => {
    await using project = await forgeProjectHere();
    await project.create('task', '--priority', '0');
    await project.create('bug', '--type', 'bug', '--label', 'web');
    const claim = (...flags: string[]): Promise<Claimed> =>
      project.json('claim', '--next', '--actor', 'w', ...flags);
    expect((await claim('--type', 'bug')).title).toBe('bug');
    expect((await claim()).title).toBe('task');
    const nothing = await project.fails('claim', '--next');
    expect(nothing).toMatchObject({ exit: 3, error: { code: 'nothing_ready' } });
    expect(nothing.stderr).toBe('forge: No task is ready\n  try: forge ready --explain\n');
  });

  it('release gives a task back to its queue; only the owner may, or --force', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('mine');
    const never = await project.fails('release', id, '--actor', 'w1');
    expect(never).toMatchObject({ exit: 5, error: { code: 'state_invalid' } });
    await project.json('claim', id, '--actor', 'w1');
    const other = await project.fails('release', id, '--actor', 'w2');
    expect(other).toMatchObject({
      exit: 4,
      error: { code: 'claim_conflict', hint: `forge release ${id} --force` },
    });
    expect(await project.text('release', id, '--actor', 'w1', '--reason', 'no database')).toBe(
      `Released task ${id}: mine`,
    );
    expect(await project.show(id)).toMatchObject({ status: 'open', assignee: null, ready: true });
    await project.json('claim', id, '--actor', 'w1');
    expect(await project.json('task', 'release', id, '--actor', 'w2', '--force')).toMatchObject({
      assignee: null,
    });
  });
});
