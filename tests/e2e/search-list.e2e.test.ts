import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUSES, type Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

const project = await forgeProjectHere();
afterAll(() => project[Symbol.asyncDispose]());

const ids: Record<string, string> = {};

beforeAll(async () => {
  const create = async (title: string, ...flags: string[]): Promise<void> => {
    ids[title] = (await project.create(title, ...flags)).id;
  };
  await create('Epic', '--type', 'epic', '--priority', '0', '--github-issue', '47');
  await create('Add Authentication', '--type', 'feature', '--priority', '1', '--label', 'frontend');
  await create('Fix parser', '--type', 'bug', '--priority', '0', '--label', 'crash', '--github-issue', '47');
  await create('Write docs', '--parent', ids['Epic'] ?? '', '--description', 'How authentiCATION works');
  await create('Refactor', '--parent', ids['Epic'] ?? '', '--label', 'frontend', '--github-issue', '47');
  await create('Said hello', '--type', 'message', '--priority', '4', '--assignee', 'ann');
  await create('Für Größe', '--description', '50% off, a_b, c:\\dir', '--state', 'backlog');
  await project.json('claim', ids['Fix parser'] ?? '', '--actor', 'worker-1');
  await project.json('task', 'close', ids['Refactor'] ?? '', '--reason', 'done');
});

const search = async (...flags: string[]): Promise<string[]> =>
  (await project.json<Task[]>('search', ...flags)).map(({ title }) => title);
const list = async (...flags: string[]): Promise<string[]> =>
  (await project.json<Task[]>('task', 'list', ...flags)).map(({ title }) => title);

describe('forge search', () => {
  it('[S11] knows the three statuses, which together are everything', async () => {
    const [open, started, closed, all] = await Promise.all([
      ...STATUSES.map((status) => search('--status', status)),
      search(),
    ]);
    expect(started).toEqual(['Fix parser']);
    expect(closed).toEqual(['Refactor']);
    expect([...(open ?? []), ...(started ?? []), ...(closed ?? [])].toSorted()).toEqual(all?.toSorted());
    expect(all).toHaveLength(7);
    const { exit, error } = await project.fails('search', '--status', 'x');
    expect(exit).toBe(2);
    expect(error.message).toBe('--status: must be one of open, in_progress, closed, not "x"');
  });

  it.each([
    [['--type', 'bug'], ['Fix parser']],
    [
      ['--priority', '0'],
      ['Epic', 'Fix parser'],
    ],
    [
      ['--label', 'frontend'],
      ['Add Authentication', 'Refactor'],
    ],
    [['--label', 'front'], []],
    [['--state', 'backlog'], ['Für Größe']],
    [['--github-issue', '48'], []],
    [['--status', 'open', '--label', 'frontend'], ['Add Authentication']],
    [
      [
        '--priority',
        '0',
        '--type',
        'bug',
        '--status',
        'in_progress',
        '--label',
        'crash',
        '--github-issue',
        '47',
      ],
      ['Fix parser'],
    ],
    [['--priority', '0', '--type', 'bug', '--status', 'open'], []],
  ])('[S103] %j gives %j', async (flags, expected) => {
    expect(await search(...flags)).toEqual(expected);
  });

  it('[S103] --parent lists children, none the tasks at the top; a shortened id will do', async () => {
    const epic = ids['Epic'] ?? '';
    expect(await search('--parent', epic)).toEqual(['Write docs', 'Refactor']);
    expect(await search('--parent', epic.slice(3), '--status', 'closed')).toEqual(['Refactor']);
    expect(await search('--parent', 'none', '--github-issue', 'none')).toEqual([
      'Add Authentication',
      'Für Größe',
      'Said hello',
    ]);
    expect((await project.fails('search', '--parent', 'fg-none')).exit).toBe(3);
  });

  it('[S68] --github-issue gives the tasks of an issue by priority, then age, closed ones too', async () => {
    expect(await search('--github-issue', '47')).toEqual(['Epic', 'Fix parser', 'Refactor']);
  });

  it('[S104] --assignee finds one identity, none what nobody has', async () => {
    expect(await search('--assignee', 'worker-1', '--status', 'in_progress')).toEqual(['Fix parser']);
    expect(await search('--assignee', 'ann')).toEqual(['Said hello']);
    expect(await search('--assignee', 'worker')).toEqual([]);
    expect(await search('--status', 'open', '--assignee', 'none', '--priority', '0')).toEqual(['Epic']);
    expect(await search('--assignee', 'none')).toHaveLength(5);
  });

  it('[S105] --query looks in title and description, in upper and lower case, beyond ASCII too', async () => {
    expect(await search('--query', 'AUTHENT')).toEqual(['Add Authentication', 'Write docs']);
    expect(await search('--query', 'authentication', '--status', 'open', '--label', 'frontend')).toEqual([
      'Add Authentication',
    ]);
    expect(await search('--query', 'GRÖ')).toEqual(['Für Größe']);
    expect(await search('--query', 'nowhere')).toEqual([]);
  });

  it('[S105] every character of the query stands for itself', async () => {
    expect(await search('--query', '%')).toEqual(['Für Größe']);
    expect(await search('--query', 'a_b')).toEqual(['Für Größe']);
    expect(await search('--query', '_')).toEqual(['Für Größe']);
    expect(await search('--query', 'c:\\dir')).toEqual(['Für Größe']);
    expect(await search('--query', "' OR 1=1 --")).toEqual([]);
  });

  it('says below a table that a limit may have cut it', async () => {
    for (const list of [['task', 'list'], ['ready'], ['search']]) {
      expect(await project.program.text(...list, '--limit', '2')).toMatch(
        /\n2 tasks, as --limit says; there may be more$/,
      );
      expect(await project.program.text(...list, '--limit', '1000')).not.toContain('--limit');
    }
    expect(await project.program.text('ready', '--limit', '1')).toMatch(/\n1 task, as --limit says/);
  });

  it('takes a priority as the tables show it', async () => {
    expect(await search('--priority', 'P0')).toEqual(await search('--priority', '0'));
    expect((await project.fails('search', '--priority', 'P9')).error.code).toBe('invalid_input');
  });

  it('prints a table, and says when nothing matches', async () => {
    expect(await project.program.text('search', '--query', 'nowhere')).toBe('No task matches.');
    expect(await project.program.text('search', '--github-issue', '47')).toBe(
      `ID       PRI  TYPE  STATE        OWNER     TITLE       LABELS
${ids['Epic']}  P0   epic  todo         -         Epic
${ids['Fix parser']}  P0   bug   in_progress  worker-1  Fix parser  crash
${ids['Refactor']}  P2   task  done         -         Refactor    frontend`,
    );
  });
});

describe('forge task list', () => {
  it('leaves closed tasks out unless they are asked for', async () => {
    const everything = await search();
    expect(await list('--all')).toEqual(everything);
    expect(await list()).toEqual(everything.filter((title) => title !== 'Refactor'));
    expect(await list('--status', 'closed')).toEqual(['Refactor']);
    expect(await list('--parent', ids['Epic'] ?? '')).toEqual(['Write docs']);
  });

  it('sorts by priority, created, updated or id, and cuts at --limit', async () => {
    const byPriority = await project.json<Task[]>('task', 'list', '--all');
    const key = ({ priority, created_at, id }: Task): string => `${priority} ${created_at} ${id}`;
    expect(byPriority).toEqual(byPriority.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
    const [created, updated, id, two] = await Promise.all([
      project.json<Task[]>('task', 'list', '--all', '--sort', 'created'),
      project.json<Task[]>('task', 'list', '--all', '--sort', 'updated'),
      project.json<Task[]>('task', 'list', '--all', '--sort', 'id'),
      project.json<Task[]>('task', 'list', '--all', '--limit', '2'),
    ]);
    expect(created.map(({ created_at }) => created_at)).toEqual(
      byPriority.map(({ created_at }) => created_at).toSorted(),
    );
    expect(updated.map(({ updated_at }) => updated_at)).toEqual(
      byPriority
        .map(({ updated_at }) => updated_at)
        .toSorted()
        .toReversed(),
    );
    expect(id.map((task) => task.id)).toEqual(byPriority.map((task) => task.id).toSorted());
    expect(two).toEqual(byPriority.slice(0, 2));
  });

  it('says what to do in a project without tasks, and counts long lists', async () => {
    await using empty = await forgeProjectHere();
    expect(await empty.text('task', 'list')).toBe('No tasks. Make one: forge task create "…"');
    {
      using db = empty.openDatabase();
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
        INSERT INTO tasks (id, title, created_at, created_by, updated_at)
        SELECT printf('fg-%04d', i), 'x', '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z' FROM n`);
    }
    const lines = (await empty.text('task', 'list')).split('\n');
    expect(lines).toHaveLength(14);
    expect(lines.at(-1)).toBe('12 tasks');
  });
});

describe('forge stats', () => {
  it('counts what the lists show', async () => {
    const stats = await project.json<Record<string, unknown>>('stats');
    expect(stats).toEqual({
      paused_at: null,
      total: 7,
      by_status: { closed: 1, in_progress: 1, open: 5 },
      by_state: { backlog: 1, done: 1, in_progress: 1, todo: 4 },
      by_type: { bug: 1, epic: 1, feature: 1, message: 1, task: 3 },
      by_priority: { 0: 2, 1: 1, 2: 3, 4: 1 },
      ready: 3,
      blocked: 0,
      parked: 1,
      assigned: [
        { assignee: 'worker-1', in_progress: 1, open: 0 },
        { assignee: 'ann', in_progress: 0, open: 1 },
      ],
      closed_last_7_days: 1,
      deleted: 0,
    });
    expect(await project.text('stats')).toBe(
      `Tasks     7
Status    5 open, 1 in_progress, 1 closed
State     1 backlog, 1 done, 1 in_progress, 4 todo
Type      1 bug, 1 epic, 1 feature, 1 message, 3 task
Priority  2 critical, 1 high, 3 medium, 1 backlog
Queue     3 ready, 0 blocked, 1 parked
Closed    1 in the last 7 days
Owner     worker-1: 1 in progress
Owner     ann: 0 in progress, 1 reserved`,
    );
  });
});
