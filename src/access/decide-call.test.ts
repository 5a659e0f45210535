import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { trustProject } from '#contract/trust-operations.ts';
import { SCOPES, type Caller, type Scope } from './caller.ts';
import {
  decideCall,
  decideEntry,
  decideHolder,
  decideRunTask,
  listRights,
  needsMaker,
  type AskedOperation,
  type Asker,
  type Input,
} from './decide-call.ts';

/**
 * Every operation, and who may ask for it: an agent at a terminal, the agent of a run (`own`: about its task), by which
 * least scope a token, whether a token for some projects, and whether an agent's own token (`held`: about a task that it
 * holds). A person at a terminal may ask for all of them, and nobody is admitted to a server without a token.
 */
const TABLE: Readonly<Record<string, string>> = {
  'project.init': 'yes no none no no',
  'task.create': 'yes yes task yes yes',
  'task.show': 'yes yes read yes yes',
  'task.update': 'yes own task yes held',
  'task.close': 'yes no task yes held',
  'task.reopen': 'yes no task yes held',
  'task.claim': 'yes no task yes yes',
  'task.release': 'yes no task yes held',
  'task.transition': 'yes no task yes held',
  'task.cancel': 'yes no task yes held',
  'task.assign': 'yes no task yes no',
  'task.roles': 'yes yes read yes yes',
  'task.transitions': 'yes yes read yes yes',
  'task.heartbeat': 'yes own task yes held',
  'task.archive': 'yes no task yes no',
  'task.unarchive': 'yes no task yes no',
  'task.comment': 'yes own task yes held',
  'task.comments': 'yes yes read yes yes',
  'task.history': 'yes yes read yes yes',
  'task.wait': 'yes yes read yes yes',
  'task.result': 'yes yes read yes yes',
  'task.review': 'yes no task yes held',
  'task.reviews': 'yes yes read yes yes',
  'task.attempts': 'yes yes read yes yes',
  'task.list': 'yes yes read yes yes',
  'task.delete': 'yes no task yes no',
  'task.restore': 'yes no task yes no',
  'task.ready': 'yes yes read yes yes',
  'task.blocked': 'yes yes read yes yes',
  'project.status': 'yes yes read yes yes',
  'inbox.list': 'yes yes read yes yes',
  'project.report': 'yes yes read yes yes',
  'task.search': 'yes yes read yes yes',
  'dep.add': 'yes own task yes held',
  'dep.remove': 'yes no task yes held',
  'dep.list': 'yes yes read yes yes',
  'dep.tree': 'yes yes read yes yes',
  'project.graph': 'yes yes read yes yes',
  'workflow.show': 'yes yes read yes yes',
  'workflow.validate': 'yes no read no yes',
  'workflow.set': 'no no admin yes no',
  'workflow.graph': 'yes yes read yes yes',
  'project.stats': 'yes yes read yes yes',
  'event.list': 'yes yes read yes yes',
  'project.prime': 'yes yes read yes yes',
  'project.onboard': 'yes no none no no',
  'project.add': 'yes no none no no',
  'project.list': 'yes no read no yes',
  'project.remove': 'no no admin no no',
  'settings.list': 'yes no none no no',
  'settings.set': 'no no none no no',
  'project.pause': 'no no admin yes no',
  'project.resume': 'no no admin yes no',
  'project.trust': 'no no none no no',
  'agent.add': 'no no admin no no',
  'agent.list': 'yes no read no yes',
  'agent.show': 'yes no read no yes',
  'agent.pause': 'no no admin no no',
  'agent.resume': 'no no admin no no',
  'agent.remove': 'no no admin no no',
  'profile.add': 'no no admin no no',
  'profile.list': 'yes no read no yes',
  'profile.show': 'yes no read no yes',
  'profile.remove': 'no no admin no no',
  'executor.list': 'yes no read no yes',
  'agent.token': 'no no admin no no',
  'token.create': 'no no admin no no',
  'token.list': 'no no admin no no',
  'token.rotate': 'no no admin no no',
  'token.revoke': 'no no admin no no',
  'repo.list': 'yes yes read yes yes',
  'skill.list': 'yes yes read yes yes',
  'batch.create': 'yes no task no no',
  'batch.add': 'yes no task no no',
  'batch.show': 'yes no read no yes',
  'batch.list': 'yes no read no yes',
  'batch.close': 'yes no task no no',
  'run.list': 'yes yes read yes yes',
  'run.show': 'yes yes read yes yes',
  'run.logs': 'yes yes read yes yes',
  'run.stop': 'yes no exec yes no',
  'run.approve': 'yes no exec yes no',
  'run.deny': 'yes no exec yes no',
  'run.forget': 'yes no exec yes no',
  'run.send': 'yes no exec yes no',
  'workspace.list': 'yes yes read yes yes',
  'workspace.open': 'yes no none no no',
  'workspace.clean': 'yes no exec yes no',
  'workspace.rescue': 'yes no exec yes no',
  worktree: 'yes no none no no',
  whereami: 'yes no none no no',
  forecast: 'yes yes read yes yes',
  'cli.list': 'yes no exec no no',
  'daemon.list': 'yes no read no yes',
  'runtime.list': 'yes no read no yes',
  'hooks.install': 'yes no none no no',
  'hooks.status': 'yes no none no no',
  'hooks.uninstall': 'no no none no no',
  'sync.export': 'yes no none no no',
  'sync.import': 'no no none no no',
  'sync.gc': 'yes no none no no',
  'sync.commit': 'yes no none no no',
  'sync.run': 'yes no none no no',
  'conflict.list': 'yes yes read yes yes',
  'conflict.resolve': 'yes no task yes no',
  'project.doctor': 'yes no none no no',
  'git.hook': 'yes no none no no',
  'git.merge': 'yes no none no no',
  'run.start': 'yes no none no no',
  'attempt.start': 'yes no exec yes no',
  'attempt.compare': 'yes yes read yes yes',
  'attempt.pick': 'yes no exec yes no',
  dispatch: 'yes no none no no',
  'server.run': 'no no none no no',
  'mcp.serve': 'yes no none no no',
  'mcp.install': 'yes no none no no',
  'shell.completion': 'yes no none no no',
  'project.uninstall': 'no no none no no',
  'project.demo': 'yes no none no no',
};

type Row = readonly [terminal: string, run: string, least: string, projects: string, agents: string];

const rowOf = (name: string): Row => (TABLE[name] ?? 'no row').split(' ') as unknown as Row;

function operationOf(name: string): AskedOperation {
  const found = OPERATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return { ...found, path: found.cli.path };
}

/** What an operation is asked for with at least, by all who may be asked for something. */
function inputOf(name: string): Input {
  if (name === 'task.create') return { title: 'One' };
  return name.startsWith('dep.') ? { from_id: 'fg-a3f8' } : { id: 'fg-a3f8' };
}

function byToken(
  scope: Scope,
  more: Partial<Pick<Caller, 'projects'>> & { readonly kind?: 'user' | 'agent' } = {},
): Asker {
  const { kind = 'user', projects } = more;
  return { way: 'token', caller: { actor: { kind, name: 'w1', named: true }, scope, projects } };
}

const ASKERS = {
  'a person at a terminal': { way: 'terminal', actor: { kind: 'user', name: 'ann' } },
  'somebody at a terminal who said no name': { way: 'terminal', actor: undefined },
  'an agent at a terminal': { way: 'terminal', actor: { kind: 'agent', name: 'w1' } },
  'the agent of a run': { way: 'run', agent: 'w1' },
  'a token to read': byToken('read'),
  'a token for tasks': byToken('task'),
  'a token to run programs': byToken('exec'),
  'a token for everything': byToken('admin'),
  'a token for some projects': byToken('admin', { projects: ['fg'] }),
  'an agent’s token': byToken('admin', { kind: 'agent' }),
  'nobody, from the same machine': { way: 'nobody' },
} as const satisfies Readonly<Record<string, Asker>>;

function expected(name: string, who: keyof typeof ASKERS): string {
  const [terminal, run, least, projects, agents] = rowOf(name);
  const byServer = (scope: Scope): string => {
    if (least === 'none') return 'not_by_server';
    return SCOPES.indexOf(scope) < SCOPES.indexOf(least as Scope) ? 'scope' : 'allowed';
  };
  switch (who) {
    case 'a person at a terminal':
    case 'somebody at a terminal who said no name':
      return 'allowed';
    case 'an agent at a terminal':
      return terminal === 'yes' ? 'allowed' : 'for_people';
    case 'the agent of a run':
      return { yes: 'allowed', own: 'if_own' }[run] ?? 'not_by_run';
    case 'a token to read':
      return byServer('read');
    case 'a token for tasks':
      return byServer('task');
    case 'a token to run programs':
      return byServer('exec');
    case 'a token for everything':
      return byServer('admin');
    case 'a token for some projects':
      return projects === 'yes' || least === 'none' ? byServer('admin') : 'beyond_projects';
    case 'an agent’s token':
      if (least === 'none') return 'not_by_server';
      return { yes: 'allowed', held: 'if_holder' }[agents] ?? 'not_by_agents_token';
    case 'nobody, from the same machine':
      return 'not_admitted';
  }
}

describe('who may ask for what', () => {
  it('has a row for every operation, and for no other', () => {
    expect(Object.keys(TABLE).toSorted()).toEqual(OPERATIONS.map(({ name }) => name).toSorted());
  });

  const whos = Object.keys(ASKERS) as (keyof typeof ASKERS)[];
  const all = OPERATIONS.flatMap(({ name }) => whos.map((who) => ({ name, who })));

  it.each(all)('$name, by $who', ({ name, who }) => {
    const { outcome } = decideCall(ASKERS[who], operationOf(name), inputOf(name));
    expect(outcome).toBe(expected(name, who));
  });

  it.each(all)(
    '$name, by $who: what is refused before its input is looked at is refused after',
    ({ name, who }) => {
      const entry = decideEntry(ASKERS[who], operationOf(name));
      const decision = decideCall(ASKERS[who], operationOf(name), inputOf(name));
      expect(entry === undefined ? 'allowed' : entry).toEqual(entry === undefined ? 'allowed' : decision);
    },
  );
});

describe('what an input changes', () => {
  const STEPS = { review_config: { ci_steps: ['npm test'] } };
  it.each<[string, Asker, Input, object]>([
    ['task.create', byToken('task'), STEPS, { outcome: 'scope', needed: 'exec', held: 'task' }],
    ['task.create', byToken('exec'), STEPS, { outcome: 'allowed' }],
    [
      'task.update',
      byToken('task'),
      { review_config: null },
      { outcome: 'scope', needed: 'exec', held: 'task' },
    ],
    ['task.review', byToken('exec'), { force: true }, { outcome: 'scope', needed: 'admin', held: 'exec' }],
    [
      'task.claim',
      byToken('task'),
      { overrides: { model: 'x' } },
      { outcome: 'scope', needed: 'exec', held: 'task' },
    ],
    [
      'task.claim',
      byToken('admin', { kind: 'agent' }),
      { id: 'fg-1', force: true },
      { outcome: 'not_by_agents_token', why: 'An agent cannot force anything' },
    ],
    [
      'task.update',
      byToken('admin', { kind: 'agent' }),
      { id: 'fg-1', title: 'x' },
      { outcome: 'if_holder', id: 'fg-1', or_free: false },
    ],
    [
      'task.update',
      ASKERS['the agent of a run'],
      { id: 'fg-1', title: 'x' },
      { outcome: 'if_own', id: 'fg-1', own: false, made: true },
    ],
    [
      'task.update',
      ASKERS['the agent of a run'],
      { id: 'fg-1', priority: 1 },
      { outcome: 'not_by_run', why: 'An agent cannot set priority inside of its run' },
    ],
    [
      'project.doctor',
      ASKERS['an agent at a terminal'],
      { fix: true },
      { outcome: 'for_people', agent: 'w1', command: 'forge doctor --fix' },
    ],
    ['project.doctor', ASKERS['an agent at a terminal'], { fix: false }, { outcome: 'allowed' }],
    ['project.doctor', ASKERS['a person at a terminal'], { fix: true }, { outcome: 'allowed' }],
    [
      'project.init',
      ASKERS['an agent at a terminal'],
      { upgrade: true },
      { outcome: 'for_people', agent: 'w1', command: 'forge init --upgrade' },
    ],
    [
      'workflow.set',
      ASKERS['an agent at a terminal'],
      {},
      { outcome: 'for_people', agent: 'w1', command: 'forge workflow set' },
    ],
    [
      'agent.list',
      byToken('admin', { projects: ['fg', 'ab'] }),
      {},
      { outcome: 'beyond_projects', projects: ['fg', 'ab'] },
    ],
    [
      'agent.list',
      ASKERS['the agent of a run'],
      {},
      { outcome: 'not_by_run', why: 'An agent cannot do agent.list inside of its run' },
    ],
  ])('%s by %j with %j', (name, asker, input, decision) => {
    expect(decideCall(asker, operationOf(name), input)).toEqual(decision);
  });
});

describe('a task that somebody has to hold', () => {
  const condition = (or_free: boolean) => ({ outcome: 'if_holder', id: 'a3f8', or_free }) as const;
  const task = { id: 'fg-a3f8', assignee: null, roles: [] };
  it.each([
    ['its owner', { ...task, assignee: 'w1' }, false, true],
    ['the holder of a role', { ...task, assignee: 'ann', roles: ['w1'] }, false, true],
    ['nobody', task, true, true],
    ['nobody, where that does not count', task, false, false],
    ['another', { ...task, assignee: 'ann' }, true, false],
  ])('is held by %s', (_, seen, or_free, held) => {
    expect(decideHolder(condition(or_free), seen, 'w1')).toEqual(
      held
        ? { outcome: 'held', holding: { id: 'fg-a3f8', agent: 'w1', or_free } }
        : { outcome: 'not_the_holder', id: 'fg-a3f8', agent: 'w1', assignee: seen.assignee },
    );
  });
});

describe('a task of a run, the whole table', () => {
  const all = [true, false].flatMap((own) =>
    [true, false].flatMap((made) =>
      ['fg-own', 'fg-other'].flatMap((id) => [true, false].map((is_made) => ({ own, made, id, is_made }))),
    ),
  );
  it.each(all)('own $own, made $made, of $id, made by the agent: $is_made', ({ own, made, id, is_made }) => {
    const condition = { outcome: 'if_own', id, own, made } as const;
    const facts = { id, task_id: 'fg-own', is_made };
    const isOwn = id === 'fg-own';
    const why = isOwn
      ? 'What a task asks for is for a person to change'
      : 'fg-other is not the task of this run: that is for a person to change';
    const isAllowed = isOwn ? own : made && is_made;
    expect(decideRunTask(condition, facts)).toEqual(
      isAllowed ? { outcome: isOwn ? 'own' : 'made' } : { outcome: 'not_by_run', why },
    );
    expect(needsMaker(condition, facts)).toBe(made && !isOwn);
  });
});

describe('what an operation may do for its caller', () => {
  it.each([
    ['a person at a terminal', ASKERS['a person at a terminal'], true, true],
    ['a run', ASKERS['the agent of a run'], false, false],
    ['nobody', ASKERS['nobody, from the same machine'], false, false],
    ['a token to read', byToken('read'), false, false],
    ['a token for tasks', byToken('task'), false, false],
    ['a token to run programs', byToken('exec'), true, false],
    ['a token for everything', byToken('admin'), true, true],
  ])('%s', (_, asker, vouches, trusts) => {
    expect(listRights(asker)).toEqual({ vouches, trusts });
  });

  it('trusts what the operation that trusts is open to', () => {
    expect(trustProject.access).toBe('admin');
  });
});
