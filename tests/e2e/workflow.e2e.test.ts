import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { ACTION_PHASES } from '#domain/workflow.ts';
import { LIMITS } from '#kernel/limits.ts';
import { forgeFolderHere, forgeProjectHere } from '../support/forge-here.ts';

interface Shown {
  source: string;
  path: string | null;
  digest: string;
  roles: string[];
  states: { name: string; next?: string[] }[];
  initial: string;
  cancellation_state: string;
}

const SMALL = JSON.stringify(
  {
    states: [
      { name: 'todo', kind: 'initial', next: ['doing'] },
      { name: 'doing', kind: 'active', next: ['done'] },
      { name: 'done', kind: 'terminal' },
      { name: 'cancelled', kind: 'terminal' },
    ],
  },
  null,
  2,
);
const BAD = `{
  "cancellation_state": "review",
  "states": [
    { "name": "todo", "kind": "initial", "next": ["work"] },
    { "name": "start", "kind": "initial", "next": ["review"] },
    { "name": "review", "kind": "gate", "role": "boss", "next": ["done"], "on_enter": [{ "action": "dance" }] },
    { "name": "done", "kind": "terminal", "next": ["todo"] }
  ]
}
`;
const BAD_LINES = [
  '  2:3  cancellation_state: "review" has the kind "gate", and a cancelled task ends in a terminal state',
  '  3:3  states: no state has the kind "active": nothing could be worked on',
  '  4:51  states[0].next[0]: no state is called "work"',
  '  5:24  states[1].kind: 2 states have the kind "initial" ("todo", "start"); a workflow has exactly one',
  '  6:41  states[2].role: no role is called "boss" (Add it to roles)',
  `  6:90  states[2].on_enter[0].action: no action is called "dance" (Known are ${Object.keys(ACTION_PHASES).join(', ')})`,
  '  7:43  states[3].next: "done" is terminal: no edge leads out of it (`forge task reopen` leads back to the initial state, without an edge)',
];

describe('forge workflow', () => {
  it('[S163] [S164] [S165] [S197] shows and draws the default', async () => {
    await using project = await forgeProjectHere();
    const shown = await project.json<Shown>('workflow', 'show');
    expect(shown).toMatchObject({
      source: 'default',
      path: null,
      initial: 'todo',
      cancellation_state: 'cancelled',
    });
    expect(shown.roles).toEqual(['planner', 'coder', 'reviewer']);
    expect(shown.states).toEqual(DEFAULT_WORKFLOW.states);
    const way = ['backlog', 'todo', 'planning', 'in_progress', 'review', 'merging', 'done'];
    expect(shown.states.map(({ name }) => name).filter((name) => way.includes(name))).toEqual(way);
    for (const [at, name] of way.slice(0, -1).entries())
      expect(shown.states.find((state) => state.name === name)?.next).toContain(way[at + 1]);
    const text = await project.text('workflow', 'show');
    expect(text).toMatch(
      /^review +gate, 3 +reviewer +merging, in_progress +on_enter: run_ci_steps \(block\); after_enter: cascade_on_review -> merging$/m,
    );
    expect(await project.text('workflow', 'graph')).toContain('merge_failed (custom)\n  -> in_progress\n');
    expect(await project.text('workflow', 'graph', '--format', 'mermaid')).toMatch(/^flowchart LR\n/);
    expect(await project.text('workflow', 'graph', '--format', 'dot')).toMatch(/^digraph workflow \{\n/);
    expect(existsSync(join(project.path, '.forge', 'workflow.json'))).toBe(false);
  });

  it('[S170] [S173] [S174] [S176] names every fault of a file with its line, and exits 2', async () => {
    await using folder = await forgeFolderHere();
    await folder.write('bad.json', BAD);
    const { exit, stdout, stderr } = await folder.program.run('workflow', 'validate', 'bad.json');
    expect([exit, stdout]).toEqual([2, '']);
    const lines = stderr.split('\n');
    expect(lines[0]).toBe('forge: The workflow has 7 faults');
    expect(lines.slice(1, 8)).toEqual(BAD_LINES);
    const asJson = await folder.program.run('workflow', 'validate', 'bad.json', '--json');
    const { error } = JSON.parse(asJson.stdout) as {
      error: { code: string; details: { faults: unknown[] } };
    };
    expect([asJson.exit, asJson.stderr, error.code, error.details.faults.length]).toEqual([
      2,
      '',
      'invalid_input',
      7,
    ]);
    expect(error.details.faults[2]).toEqual({
      path: 'states[0].next[0]',
      message: 'no state is called "work"',
      line: 4,
      column: 51,
    });
    const piped = await folder.with({ stdin: BAD }).run('workflow', 'validate', '-');
    expect([piped.exit, piped.stderr]).toEqual([2, stderr]);
  });

  it('validates without a project what is given, and the project’s own without a file', async () => {
    await using folder = await forgeFolderHere();
    expect(await folder.with({ stdin: SMALL }).json('workflow', 'validate', '-')).toEqual({
      valid: true,
      source: 'given',
      path: null,
      states: 4,
      roles: 0,
    });
    expect(await folder.fails('workflow', 'validate')).toMatchObject({ error: { code: 'not_a_project' } });
    expect(await folder.fails('workflow', 'validate', 'nope.json')).toMatchObject({
      exit: 2,
      error: { message: '<file>: nope.json does not exist' },
    });
    await using project = await forgeProjectHere();
    expect(await project.text('workflow', 'validate')).toBe(
      'The built-in workflow is fine: 10 states, 3 roles',
    );
    await project.write('.forge/workflow.json', BAD);
    const { exit, stderr } = await project.run('workflow', 'validate');
    expect([exit, stderr.split('\n')[0]]).toEqual([
      2,
      `forge: ${join(project.path, '.forge', 'workflow.json')} has 7 faults`,
    ]);
  });

  it('[S167] [S168] sets a workflow that takes effect at once, and goes back to the default', async () => {
    await using project = await forgeProjectHere();
    await project.write('draft.json', SMALL);
    const set = await project.json<{ changed: boolean; source: string; path: string }>(
      'workflow',
      'set',
      'draft.json',
    );
    expect(set).toMatchObject({ changed: true, source: 'file', stranded: [] });
    expect(readFileSync(set.path, 'utf8')).toBe(`${SMALL}\n`);
    expect(readFileSync(join(project.path, '.git/forge/workflow.json'), 'utf8')).toBe(`${SMALL}\n`);
    const shown = await project.json<Shown>('workflow', 'show');
    expect(shown.states.map(({ name }) => name)).toEqual(['todo', 'doing', 'done', 'cancelled']);
    expect(await project.json('workflow', 'set', 'draft.json')).toMatchObject({ changed: false });
    for (const back of ['', '{}', ' \n']) {
      await project.program.with({ stdin: SMALL }).json('workflow', 'set', '-');
      expect(await project.with({ stdin: back }).json('workflow', 'set', '-')).toMatchObject({
        source: 'default',
        changed: true,
      });
      expect((await project.json<Shown>('workflow', 'show')).states).toEqual(DEFAULT_WORKFLOW.states);
    }
    expect(await project.text('workflow', 'set', '--default')).toBe(
      'The workflow is the built-in one, as before',
    );
  });

  it('takes what show prints as a definition', async () => {
    await using project = await forgeProjectHere();
    const fields = 'roles,states,cancellation_state,blocked_state,status_states';
    const printed = await project.run('workflow', 'show', '--json', '--fields', fields);
    const set = await project.with({ stdin: printed.stdout }).json('workflow', 'set', '-');
    expect(set).toMatchObject({ source: 'file', changed: true, states: 10 });
    expect((await project.json<Shown>('workflow', 'show')).states).toEqual(DEFAULT_WORKFLOW.states);
  });

  it('refuses a broken one, nothing at all, and both at once; and changes nothing', async () => {
    await using project = await forgeProjectHere();
    await project.write('bad.json', BAD);
    const { exit, stderr } = await project.run('workflow', 'set', 'bad.json');
    expect([exit, stderr.split('\n').slice(0, 8)]).toEqual([
      2,
      ['forge: The workflow has 7 faults', ...BAD_LINES],
    ]);
    expect(await project.fails('workflow', 'set')).toMatchObject({
      exit: 2,
      error: { code: 'invalid_input' },
    });
    expect(await project.fails('workflow', 'set', 'bad.json', '--default')).toMatchObject({ exit: 2 });
    await project.write('long.json', SMALL + ' '.repeat(LIMITS.workflow_bytes - SMALL.length));
    expect(await project.fails('workflow', 'set', 'long.json')).toMatchObject({
      error: { message: `The workflow is larger than ${LIMITS.workflow_bytes} bytes` },
    });
    expect(existsSync(join(project.path, '.forge', 'workflow.json'))).toBe(false);
  });

  it('refuses one that leaves tasks standing nowhere, with their numbers, unless it is forced', async () => {
    await using project = await forgeProjectHere();
    await project.create('One');
    await project.create('Two', '--state', 'backlog');
    await project.write('draft.json', SMALL);
    expect(await project.fails('workflow', 'set', 'draft.json')).toMatchObject({
      exit: 5,
      error: {
        code: 'state_invalid',
        message: 'Tasks stand in states that the workflow does not have: 1 task in backlog',
        hint: 'forge workflow set <file> --map backlog=todo; or leave them there: forge workflow set <file> --force',
        details: { stranded: [{ state: 'backlog', tasks: 1 }] },
      },
    });
    expect((await project.json<Shown>('workflow', 'show')).source).toBe('default');
    expect(await project.json('workflow', 'set', 'draft.json', '--force')).toMatchObject({
      changed: true,
      stranded: [{ state: 'backlog', tasks: 1 }],
    });
  });

  it('--map moves tasks out of states that are gone, each with a row in its log', async () => {
    await using project = await forgeProjectHere();
    const parked = await project.create('Parked', '--state', 'backlog');
    const plain = await project.create('Plain');
    const worked = await project.create('Worked');
    await project.json('claim', worked.id, '--actor', 'bot');
    const stuck = await project.create('Stuck');
    await project.json('task', 'transition', stuck.id, 'blocked');
    const closed = await project.create('Closed');
    await project.json('task', 'close', closed.id, '--reason', 'done');
    const spread = JSON.parse(SMALL) as { states: { name: string; kind: string; next?: string[] }[] };
    spread.states[2] = { name: 'shipped', kind: 'terminal' };
    spread.states[1] = { name: 'doing', kind: 'active', next: ['shipped'] };
    await project.write('draft.json', JSON.stringify(spread));
    // Without a map, and with half of one, it says what to type; and changes nothing.
    const refused = await project.fails('workflow', 'set', 'draft.json', '--map', 'blocked=todo');
    expect(refused.error).toMatchObject({ code: 'state_invalid' });
    const hint = refused.error.hint ?? '';
    const flags = hint.slice(0, hint.indexOf('; or leave')).split(' ').slice(4);
    expect(flags.join(' ').split('--map ').toSorted().join('--map ').trim()).toBe(
      '--map backlog=todo --map blocked=todo --map done=shipped --map in_progress=doing',
    );
    expect((await project.json<Shown>('workflow', 'show')).source).toBe('default');
    // What it says works as it stands.
    expect(await project.json('workflow', 'set', 'draft.json', ...flags)).toMatchObject({
      changed: true,
      stranded: [],
      mapped: expect.arrayContaining([
        { from: 'backlog', to: 'todo', tasks: 1 },
        { from: 'blocked', to: 'todo', tasks: 1 },
        { from: 'done', to: 'shipped', tasks: 1 },
        { from: 'in_progress', to: 'doing', tasks: 1 },
      ]) as unknown,
    });
    const shown = async (id: string) => {
      const { state, status, assignee } = await project.json<Record<string, unknown>>('task', 'show', id);
      return [state, status, assignee];
    };
    expect(await shown(parked.id)).toEqual(['todo', 'open', null]);
    expect(await shown(plain.id)).toEqual(['todo', 'open', null]);
    expect(await shown(worked.id)).toEqual(['doing', 'in_progress', 'bot']);
    expect(await shown(stuck.id)).toEqual(['todo', 'open', null]);
    expect((await shown(closed.id)).slice(0, 2)).toEqual(['shipped', 'closed']);
    const moves = await project.json<{ trigger_reason: string }[]>('task', 'transitions', parked.id);
    expect(moves.map(({ trigger_reason }) => trigger_reason)).toEqual([
      'the workflow has no state backlog any more; it was mapped to todo',
    ]);
    expect((await project.json<unknown[]>('ready')).length).toBe(3);
    // By now nobody knows the old names.
    expect((await project.fails('workflow', 'set', 'draft.json', ...flags)).error.code).toBe('invalid_input');
    expect(await project.json('workflow', 'set', 'draft.json')).toMatchObject({ changed: false, mapped: [] });
  });

  it('--map refuses names that nobody knows, states that stay, and moves that would decide more', async () => {
    await using project = await forgeProjectHere();
    await project.create('Parked', '--state', 'backlog');
    const { id } = await project.create('Plain');
    await project.write('draft.json', SMALL);
    const refused = async (...maps: string[]) => {
      const flags = maps.flatMap((map) => ['--map', map]);
      const { exit, error } = await project.fails('workflow', 'set', 'draft.json', ...flags);
      return [exit, error.code, error.message];
    };
    expect(await refused('nowhere=todo')).toEqual([2, 'invalid_input', 'There is no state nowhere to map']);
    expect(await refused('backlog=nowhere')).toEqual([
      2,
      'invalid_input',
      'The new workflow has no state nowhere',
    ]);
    expect(await refused('todo=doing')).toEqual([
      2,
      'invalid_input',
      'The new workflow has todo too: its tasks stay there',
    ]);
    expect(await refused('backlog=1')).toEqual([
      2,
      'invalid_input',
      'Which state takes the tasks of backlog? Give its name',
    ]);
    expect((await refused('backlog'))[1]).toBe('usage');
    for (const to of ['done', 'doing'])
      expect((await refused(`backlog=${to}`))[2]).toMatch(
        new RegExp(`^backlog cannot become ${to}: \\S+ is open and would be `),
      );
    expect((await project.json<Shown>('workflow', 'show')).source).toBe('default');
    expect(await project.json('task', 'transitions', id)).toEqual([]);
  });

  it('[S168] offers what is no longer parked', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Later', '--state', 'backlog');
    expect(await project.json('ready')).toEqual([]);
    const states = JSON.stringify(DEFAULT_WORKFLOW).replace('"kind":"backlog"', '"kind":"initial"');
    const stdin = states.replace('"name":"todo","kind":"initial"', '"name":"todo","kind":"custom"');
    await project.with({ stdin }).json('workflow', 'set', '-');
    expect(await project.json('ready')).toMatchObject([{ id }]);
    await project.json('workflow', 'set', '--default');
    expect(await project.json('ready')).toEqual([]);
  });

  it('reads of tasks do not mind a broken workflow', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('One');
    await project.write('.forge/workflow.json', BAD);
    expect(await project.json('ready')).toHaveLength(1);
    expect(await project.show(id)).toMatchObject({ id });
    expect(await project.fails('workflow', 'show')).toMatchObject({
      exit: 2,
      error: { code: 'invalid_input', hint: 'forge workflow validate' },
    });
    const doctor = await project.run('doctor', '--json');
    expect(doctor.stdout).toContain('"name":"workflow","state":"failed"');
    expect(await project.json('workflow', 'set', '--default')).toMatchObject({ changed: true });
    expect((await project.run('doctor', '--json')).stdout).toContain('"name":"workflow","state":"ok"');
    expect(await project.json<Shown>('workflow', 'show')).toMatchObject({ initial: 'todo' });
  });
});
