import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { findDeclaration, type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { bringTasks, expectRefused, type Refusal } from '../support/store-snapshot.ts';

const KNOWN = 'fg-know';

/** Every way to name a task on a command line. */
const COMMANDS: readonly ((id: string) => string[])[] = [
  (id) => ['task', 'show', id],
  (id) => ['task', 'update', id, '--priority', '1'],
  (id) => ['task', 'update', KNOWN, '--parent', id],
  (id) => ['task', 'close', id, '--reason', 'done'],
  (id) => ['task', 'reopen', id],
  (id) => ['task', 'claim', id],
  (id) => ['claim', id],
  (id) => ['task', 'release', id],
  (id) => ['release', id],
  (id) => ['task', 'comment', id, 'hello'],
  (id) => ['task', 'history', id],
  (id) => ['task', 'comments', id],
  (id) => ['task', 'transition', id, 'blocked'],
  (id) => ['task', 'cancel', id],
  (id) => ['task', 'assign', id, 'coder'],
  (id) => ['task', 'roles', id],
  (id) => ['task', 'transitions', id],
  (id) => ['task', 'heartbeat', id, '--fence', '1'],
  (id) => ['task', 'archive', id],
  (id) => ['task', 'unarchive', id],
  (id) => ['task', 'wait', id],
  (id) => ['task', 'result', id],
  (id) => ['task', 'reviews', id],
  (id) => ['task', 'review', id, 'pass'],
  (id) => ['task', 'attempts', id],
  (id) => ['attempt', 'start', id, '--agent', 'worker-1'],
  (id) => ['attempt', 'compare', id],
  (id) => ['task', 'delete', id],
  (id) => ['task', 'create', 'A child', '--parent', id],
  (id) => ['task', 'create', 'A dependent', '--depends-on', id],
  (id) => ['task', 'create', 'Two blockers', '--depends-on', KNOWN, '--depends-on', id],
  (id) => ['task', 'list', '--parent', id],
  (id) => ['search', '--parent', id],
  (id) => ['dep', 'add', id, KNOWN],
  (id) => ['dep', 'add', KNOWN, id],
  (id) => ['dep', 'remove', id, KNOWN],
  (id) => ['dep', 'remove', KNOWN, id],
  (id) => ['dep', 'tree', id],
  (id) => ['dep', 'list', id],
  (id) => ['graph', id],
  (id) => ['conflicts', id],
  (id) => ['resolve', id],
];
/** Those that name a run. */
const RUN_COMMANDS: readonly ((id: string) => string[])[] = [
  (id) => ['runs', 'show', id],
  (id) => ['runs', 'logs', id],
  (id) => ['runs', 'stop', id],
  (id) => ['runs', 'approve', id],
  (id) => ['runs', 'deny', id],
  (id) => ['runs', 'forget', id],
  (id) => ['runs', 'send', id, 'hello'],
];
const RESTORE = (id: string): string[] => ['task', 'restore', id];

describe('an id that names no task, or several', () => {
  test('the table of commands above is complete', () => {
    const takesId = OPERATIONS.filter(
      ({ input, needs }) =>
        needs === 'project' &&
        Object.keys(input.shape).some((field) => /^(id|.*_id|depends_on)$/.test(field)),
    );
    const tried = new Set(
      [...COMMANDS, ...RUN_COMMANDS, RESTORE].map((command) => findDeclaration(command('x')).name),
    );
    expect([...tried].toSorted()).toEqual(takesId.map(({ name }) => name).toSorted());
  });

  test('an unknown id is named in the answer of every command, with the list of tasks as the next command', async () => {
    await using project = await projectOfTwins();
    const refusal = (args: string[]): Refusal => ({
      args,
      code: 'not_found',
      says: 'No task zzzz',
      hint: 'forge task list',
      details: { id: 'zzzz' },
    });
    await expectRefused(project, [
      ...COMMANDS.map((command) => refusal(command('zzzz'))),
      ...RUN_COMMANDS.map((command) => ({
        args: command('zzzz'),
        code: 'not_found' as const,
        says: 'No run zzzz',
        details: { id: 'zzzz' },
      })),
      { args: RESTORE('zzzz'), code: 'not_found', says: 'No deleted task zzzz', details: { id: 'zzzz' } },
    ]);
  });

  test('an ambiguous beginning is answered with the candidates by every command', async () => {
    await using project = await projectOfTwins();
    const refusal = (args: string[], ref: string, candidates: string[]): Refusal => ({
      args,
      code: 'ambiguous_id',
      says: `"${ref}" could be ${candidates.join(', ')}`,
      hint: 'one more character',
      details: { id: ref, candidates },
    });
    await expectRefused(project, [
      ...COMMANDS.map((command) => refusal(command('tw'), 'tw', ['fg-twin1', 'fg-twin2'])),
      refusal(['task', 'show', 'fg-tw'], 'fg-tw', ['fg-twin1', 'fg-twin2']),
      refusal(['task', 'show', 'FG-TW'], 'FG-TW', ['fg-twin1', 'fg-twin2']),
      refusal(RESTORE('gone'), 'gone', ['fg-gone1', 'fg-gone2']),
    ]);
  });

  test('more candidates than one reads are cut, and the message says so', async () => {
    await using project = await forgeProjectHere();
    bringTasks(
      project.path,
      Array.from({ length: 9 }, (_, n) => ({ id: `fg-many${n}` })),
    );
    await project.text('ready');
    await expectRefused(project, [
      { args: ['task', 'show', 'many'], code: 'ambiguous_id', says: /fg-many0, .*fg-many4 and more$/ },
    ]);
  });

  test('an exact id means itself, also when longer ids begin with it', async () => {
    await using project = await forgeProjectHere();
    bringTasks(project.path, [{ id: 'fg-abcd' }, { id: 'fg-abcde' }]);
    expect((await project.show('fg-abcd')).id).toBe('fg-abcd');
    expect((await project.show('abcd')).id).toBe('fg-abcd');
    expect((await project.show('ABCDE')).id).toBe('fg-abcde');
  });

  test.each(['bl-85tq', 'bl-8tw', 'bl-85twx', 'bl-58tw', 'lb-85tw', 'bk-85tw'])(
    '%s, one slip away from an id, is answered with it',
    async (typed) => {
      await using project = await forgeProjectHere();
      bringTasks(project.path, [{ id: 'bl-85tw' }, { id: 'bl-zzzz' }]);
      const { error } = await project.fails('task', 'show', typed);
      expect(error).toMatchObject({
        code: 'not_found',
        message: `No task ${typed}; did you mean bl-85tw?`,
        hint: 'forge task show bl-85tw',
        details: { id: typed, candidates: ['bl-85tw'] },
      });
    },
  );

  test('what cannot be an id is refused as it was typed', async () => {
    await using project = await projectOfTwins();
    const unknown = (id: string): Refusal => ({
      args: ['task', 'show', id],
      code: 'not_found',
      says: `No task ${id}`,
    });
    await expectRefused(project, [
      ...['%', 'fg-twin_', "fg-'; DROP TABLE tasks; --", '../../etc/passwd', 'fg-twin1 '].map(unknown),
      { args: ['task', 'show', ''], code: 'invalid_input', says: '<id>: must not be empty' },
      {
        args: ['task', 'show', 'a'.repeat(81)],
        code: 'invalid_input',
        says: '<id>: must have at most 80 characters',
      },
      { args: ['dep', 'add', KNOWN, ''], code: 'invalid_input', says: '<to-id>: must not be empty' },
      {
        args: ['task', 'show', '-x'],
        code: 'usage',
        says: 'Unknown flag -x',
        hint: 'forge task show --help',
      },
    ]);
  });

  test('a deleted task says that it was deleted and how it comes back', async () => {
    await using project = await projectOfTwins();
    const refusal = (...args: string[]): Refusal => ({
      args,
      code: 'not_found',
      says: 'Task fg-gone1 was deleted',
      hint: 'forge task restore fg-gone1',
    });
    await expectRefused(project, [
      refusal('task', 'show', 'fg-gone1'),
      refusal('task', 'update', 'fg-gone1', '--priority', '1'),
      refusal('task', 'create', 'A child', '--parent', 'fg-gone1'),
      refusal('task', 'delete', 'fg-gone1'),
      refusal('dep', 'add', KNOWN, 'fg-gone1'),
    ]);
    await project.json('task', 'restore', 'fg-gone1');
    expect((await project.show('fg-gone1')).title).toBe('Task fg-gone1');
  });
});

describe('edges that cannot be', () => {
  test('a task cannot depend on itself, however it is spelled', async () => {
    await using project = await projectOfTwins();
    const itself = (...args: string[]): Refusal => ({
      args: ['dep', 'add', ...args],
      code: 'dependency_cycle',
      says: 'fg-know cannot depend on itself',
      details: { path: [KNOWN, KNOWN] },
    });
    await expectRefused(project, [
      itself(KNOWN, KNOWN),
      itself(KNOWN, 'know'),
      itself('KN', 'kno', '--type', 'blocks'),
      itself(KNOWN, KNOWN, '--type', 'related'),
    ]);
  });

  test('a cycle of two and of three is refused with its path', async () => {
    await using project = await projectOfChain(3);
    await expectRefused(project, [
      {
        args: ['dep', 'add', 'fg-c001', 'fg-c000'],
        code: 'dependency_cycle',
        says: 'That would close a cycle: fg-c001 -> fg-c000 -> fg-c001',
        hint: 'forge dep tree fg-c000',
        details: { path: ['fg-c001', 'fg-c000', 'fg-c001'] },
      },
      {
        args: ['dep', 'add', 'fg-c002', 'fg-c000'],
        code: 'dependency_cycle',
        says: 'That would close a cycle: fg-c002 -> fg-c000 -> fg-c001 -> fg-c002',
        details: { path: ['fg-c002', 'fg-c000', 'fg-c001', 'fg-c002'] },
      },
    ]);
    // Only `blocks` edges hold anybody back.
    expect(await project.json('dep', 'add', 'fg-c002', 'fg-c000', '--type', 'related')).toMatchObject({
      added: true,
    });
  });

  test('a cycle of fifty is named by its ends, and in full in the details', async () => {
    await using project = await projectOfChain(50);
    await project.json('task', 'close', 'fg-c025', '--reason', 'a closed task in between frees nothing');
    const path = [49, ...Array.from({ length: 50 }, (_, n) => n)].map(chainId);
    await expectRefused(project, [
      {
        args: ['dep', 'add', 'fg-c049', 'fg-c000'],
        code: 'dependency_cycle',
        says: /^That would close a cycle: fg-c049 -> fg-c000 -> fg-c001 -> .*\(39 more\).* -> fg-c048 -> fg-c049$/,
        hint: 'forge dep tree fg-c000',
        details: { path },
      },
    ]);
  });

  test('a task cannot become its own ancestor', async () => {
    await using project = await forgeProjectHere();
    bringTasks(project.path, [
      { id: 'fg-epic', type: 'epic' },
      { id: 'fg-part', parent_id: 'fg-epic' },
      { id: 'fg-leaf', parent_id: 'fg-part' },
    ]);
    await project.text('ready');
    const refusal = (id: string, parent: string, path: string[]): Refusal => ({
      args: ['task', 'update', id, '--parent', parent],
      code: 'dependency_cycle',
      says: `${id} would become its own ancestor: ${path.join(' -> ')}`,
      details: { path },
    });
    await expectRefused(project, [
      refusal('fg-epic', 'fg-epic', ['fg-epic', 'fg-epic']),
      refusal('fg-epic', 'fg-leaf', ['fg-epic', 'fg-leaf', 'fg-part', 'fg-epic']),
    ]);
  });

  test('an edge that is not there cannot be removed', async () => {
    await using project = await projectOfChain(2);
    const refusal = (args: string[], says: string): Refusal => ({
      args: ['dep', 'remove', ...args],
      code: 'not_found',
      says,
      hint: /^forge task show fg-c00\d$/,
    });
    await expectRefused(project, [
      refusal(['fg-c001', 'fg-c000'], 'fg-c001 has no dependency on fg-c000'),
      refusal(['fg-c000', 'fg-c001', '--type', 'related'], 'fg-c000 has no related dependency on fg-c001'),
    ]);
  });
});

describe('conflicts', () => {
  test('a write for an old version is refused with the current one', async () => {
    await using project = await forgeProjectHere();
    bringTasks(project.path, [
      { id: 'fg-open' },
      { id: 'fg-shut', status: 'closed', close_reason: 'done', closed_at: '2026-02-10T09:00:00.000Z' },
    ]);
    await project.json('task', 'update', 'fg-open', '--priority', '1');
    const { version } = await project.show('fg-open');
    const old = version - 1;
    const refusal = (...args: string[]): Refusal => ({
      args: [...args, '--version', String(old)],
      code: 'version_conflict',
      says: `fg-open has version ${version}, not ${old}: somebody changed it`,
      hint: 'forge task show fg-open',
      details: { id: 'fg-open', version },
    });
    await expectRefused(project, [
      refusal('task', 'update', 'fg-open', '--title', 'Mine'),
      refusal('task', 'update', 'fg-open', '--status', 'in_progress', '--assignee', 'worker-1'),
      refusal('task', 'close', 'fg-open', '--reason', 'done'),
      {
        args: ['task', 'reopen', 'fg-shut', '--version', '99'],
        code: 'version_conflict',
        says: 'fg-shut has version 1, not 99',
        hint: 'forge task show fg-shut',
      },
    ]);
  });

  test('a delete for an old version is refused with the next command', async () => {
    await using project = await projectOfTwins();
    await expectRefused(project, [
      {
        args: ['task', 'delete', KNOWN, '--version', '99'],
        code: 'version_conflict',
        says: 'fg-know has version 1, not 99: somebody changed it',
        hint: 'forge task show fg-know',
        details: { id: KNOWN, version: 1 },
      },
    ]);
  });

  test('a write for an old claim is refused with the new owner', async () => {
    await using project = await projectOfTwins();
    const first = await project.json<{ fence: number }>('claim', KNOWN, '--assignee', 'worker-1');
    const second = await project.json<{ fence: number }>('claim', KNOWN, '--assignee', 'worker-2', '--force');
    expect(second.fence).toBeGreaterThan(first.fence);
    const refusal = (...args: string[]): Refusal => ({
      args: [...args, '--fence', String(first.fence), '--actor', 'worker-1'],
      code: 'fence_conflict',
      says: `The claim ${first.fence} of fg-know is over; worker-2 has it now`,
      details: { id: KNOWN, fence: second.fence, assignee: 'worker-2' },
    });
    await expectRefused(project, [
      refusal('task', 'update', KNOWN, '--meta-set', 'result=lost'),
      refusal('task', 'close', KNOWN, '--reason', 'done'),
      refusal('release', KNOWN),
      refusal('release', KNOWN, '--force'),
    ]);
  });

  test('a write for an old claim is refused with the next command', async () => {
    await using project = await projectOfTwins();
    await expectRefused(project, [
      {
        args: ['task', 'close', KNOWN, '--reason', 'done', '--fence', '99'],
        code: 'fence_conflict',
        says: 'The claim 99 of fg-know is over',
        hint: /^forge .*/,
      },
    ]);
  });

  test('a claim that cannot be is refused with who or what stands in the way', async () => {
    await using project = await forgeProjectHere();
    bringTasks(project.path, [
      { id: 'fg-mine', status: 'in_progress', assignee: 'worker-1' },
      { id: 'fg-wait', dependencies: [{ id: 'fg-mine', type: 'blocks' }] },
      { id: 'fg-park', state: 'backlog' },
      { id: 'fg-shut', status: 'closed', close_reason: 'done', closed_at: '2026-02-10T09:00:00.000Z' },
      { id: 'fg-kept', assignee: 'worker-1' },
    ]);
    await project.text('task', 'list');
    await expectRefused(project, [
      {
        args: ['claim', 'fg-mine'],
        code: 'claim_conflict',
        says: 'fg-mine belongs to worker-1',
        hint: 'forge claim --next',
      },
      {
        args: ['claim', 'fg-kept'],
        code: 'claim_conflict',
        says: 'fg-kept belongs to worker-1',
        hint: 'forge claim --next',
      },
      {
        args: ['claim', 'fg-wait'],
        code: 'dependency_gate',
        says: 'fg-wait waits for fg-mine',
        hint: 'forge dep tree fg-wait',
      },
      {
        args: ['claim', 'fg-park'],
        code: 'state_invalid',
        says: 'fg-park is parked in backlog',
        hint: 'forge task update fg-park --state todo',
      },
      {
        args: ['claim', 'fg-shut'],
        code: 'state_invalid',
        says: 'fg-shut is closed',
        hint: 'forge task reopen fg-shut',
      },
      {
        args: ['claim', '--next'],
        code: 'nothing_ready',
        says: 'No task is ready',
        hint: 'forge ready --explain',
      },
      {
        args: ['release', 'fg-mine'],
        code: 'claim_conflict',
        says: 'fg-mine belongs to worker-1, not to Test User',
        hint: 'forge release fg-mine --force',
      },
      {
        args: ['release', 'fg-kept'],
        code: 'state_invalid',
        says: 'fg-kept is open; only a claimed task can be released',
      },
      {
        args: ['task', 'reopen', 'fg-kept'],
        code: 'state_invalid',
        says: 'fg-kept is not closed; it is open',
      },
      {
        args: ['task', 'update', 'fg-shut', '--state', 'backlog'],
        code: 'state_invalid',
        says: /^fg-shut .*it is closed/,
        hint: 'forge task reopen fg-shut',
      },
      {
        args: ['task', 'update', 'fg-mine', '--state', 'backlog'],
        code: 'state_invalid',
        says: /^fg-mine .*in progress with worker-1/,
        hint: 'forge release fg-mine',
      },
      {
        args: ['task', 'update', 'fg-wait', '--status', 'in_progress', '--assignee', 'none'],
        code: 'state_invalid',
        says: /^fg-wait .*has an owner/,
      },
      {
        args: ['task', 'update', 'fg-park', '--status', 'in_progress', '--assignee', 'worker-1'],
        code: 'state_invalid',
        says: /^fg-park .*parked/,
        hint: '--state todo',
      },
      {
        args: ['task', 'comment', 'fg-wait', 'yes', '--reply-to', 'c-nope'],
        code: 'not_found',
        says: 'No comment c-nope on fg-wait',
        hint: 'forge task show fg-wait',
      },
    ]);
  });
});

/** Two ids with the same beginning, two deleted ones, and one that is fine. */
async function projectOfTwins(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  bringTasks(project.path, [
    { id: KNOWN },
    { id: 'fg-twin1' },
    { id: 'fg-twin2' },
    { id: 'fg-gone1' },
    { id: 'fg-gone2' },
  ]);
  await project.json('task', 'delete', 'fg-gone1');
  await project.json('task', 'delete', 'fg-gone2');
  return project;
}

/** Each waits for the next one. */
async function projectOfChain(length: number): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  bringTasks(
    project.path,
    Array.from({ length }, (_, n) => ({
      id: chainId(n),
      dependencies: n + 1 < length ? [{ id: chainId(n + 1), type: 'blocks' }] : [],
    })),
  );
  await project.text('ready');
  return project;
}

function chainId(n: number): string {
  return `fg-c${String(n).padStart(3, '0')}`;
}
