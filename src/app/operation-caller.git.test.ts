import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import { isForgeError } from '#kernel/errors.ts';
import { type Caller, SCOPES, type Scope } from '#access/caller.ts';
import type { OpenProject } from '#operations/operation.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { findProject } from '#sync/find-project.ts';
import { addProject } from '#sync/project-registry.ts';
import { initWithStore, testMachine } from '../../tests/support/sync-project.ts';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { createOperationCaller } from './operation-caller.ts';
import type { ServerProject } from './serve/server-project.ts';
import { openServerProjects, type ServerProjects } from './server-projects.ts';

describe('calls from outside', () => {
  test('run on the project with the caller as the actor', async () => {
    await using served = await serve();
    const made = (await served.call('task.create', { title: 'x' })) as Task;
    expect(made).toMatchObject({ title: 'x', created_by: 'ada' });
    expect(await served.call('task.show', { id: made.id })).toMatchObject({ id: made.id });
  });

  test('who asks is never taken from the input', async () => {
    await using served = await serve();
    for (const field of ['actor', 'created_by', 'triggered_by', 'scope', 'user', 'token'])
      expect(await served.fails('task.create', { title: 'x', [field]: 'mallory' })).toMatchObject({
        code: 'invalid_input',
        details: { issues: [{ field, message: 'there is no such field' }] },
      });
  });

  test('every field that is wrong or unknown is named at once', async () => {
    await using served = await serve();
    const error = await served.fails('task.create', { title: 5, priority: 9, colour: 'red' });
    expect(error.code).toBe('invalid_input');
    const { issues } = error.details as { issues: { field: string }[] };
    expect(issues.map(({ field }) => field).toSorted()).toEqual(['colour', 'priority', 'title']);
  });

  test.each(['x', 5, null, [], undefined, true])('an input that is %j is refused', async (input) => {
    await using served = await serve();
    expect((await served.fails('task.list', input)).code).toBe('invalid_input');
  });

  test('names that JavaScript itself uses are fields like others: unknown', async () => {
    await using served = await serve();
    const input: unknown = JSON.parse('{"title":"x","__proto__":{"priority":0},"constructor":1}');
    const error = await served.fails('task.create', input);
    expect(error.details).toMatchObject({
      issues: expect.arrayContaining([
        expect.objectContaining({ field: '__proto__' }),
        expect.objectContaining({ field: 'constructor' }),
      ]) as unknown,
    });
  });

  test('each operation is refused below its scope', async () => {
    await using served = await serve();
    for (const { name, access, local, needs } of OPERATIONS) {
      if (local === true || needs === 'repository') continue;
      for (const scope of SCOPES.filter((one) => SCOPES.indexOf(one) < SCOPES.indexOf(access)))
        expect(await served.fails(name, {}, { scope })).toMatchObject({
          code: 'permission_denied',
          details: { needed: access, held: scope },
        });
    }
  });

  test('a command that Forge will run needs the scope exec', async () => {
    await using served = await serve();
    const input = { title: 'x', review_config: { ci_steps: ['npm test'] } };
    expect(await served.fails('task.create', input, { scope: 'task' })).toMatchObject({
      code: 'permission_denied',
      details: { needed: 'exec' },
    });
    expect(await served.call('task.create', input, { scope: 'exec' })).toMatchObject({ title: 'x' });
  });

  test('what works on a checkout is not available', async () => {
    await using served = await serve();
    const local = OPERATIONS.filter((one) => one.local === true || one.needs === 'repository');
    expect(local.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['project.init', 'sync.import', 'git.hook', 'server.run', 'hooks.install']),
    );
    for (const { name } of local) expect((await served.fails(name, {})).code).toBe('not_available');
    expect((await served.fails('no.such', {})).code).toBe('not_found');
  });

  test('an agent changes what it holds and nothing else, with any scope of its token', async () => {
    await using served = await serve();
    const own = (await served.call('task.create', { title: 'own' })) as Task;
    const other = (await served.call('task.create', { title: 'other' })) as Task;
    const agent = { agent: 'worker-1', scope: 'admin' } as const;
    expect(await served.call('task.claim', { id: own.id }, agent)).toMatchObject({ assignee: 'worker-1' });
    expect(await served.call('task.comment', { id: own.id, body: 'x' }, agent)).toMatchObject({
      author: 'worker-1',
    });
    expect((await served.fails('task.comment', { id: other.id, body: 'x' }, agent)).code).toBe(
      'permission_denied',
    );
    expect((await served.fails('task.update', { id: other.id, title: 'y' }, agent)).code).toBe(
      'permission_denied',
    );
    expect((await served.fails('task.delete', { id: own.id }, agent)).code).toBe('permission_denied');
    expect((await served.fails('task.claim', { id: other.id, assignee: 'worker-2' }, agent)).code).toBe(
      'permission_denied',
    );
    // A shortened id is the same task.
    expect(await served.call('task.update', { id: own.id.slice(0, -1), title: 'mine' }, agent)).toMatchObject(
      {
        title: 'mine',
      },
    );
    expect(await served.call('task.list', {}, agent)).toHaveLength(2);
    const taking = { id: other.id, status: 'in_progress', assignee: 'worker-1' };
    expect(await served.call('task.update', taking, agent)).toMatchObject({ claimed: true });
  });

  test.each([
    ['task.comment', { body: 'late' }],
    ['task.update', { title: 'late' }],
    ['task.close', { reason: 'late' }],
    ['task.transition', { state: 'todo' }],
    ['task.release', {}],
    ['task.cancel', {}],
    ['task.heartbeat', { fence: 1 }],
  ])('%s of an agent that loses the task between the look and the write is refused', async (name, more) => {
    await using served = await serve();
    const { id } = (await served.call('task.create', { title: 'own' })) as Task;
    const agent = { agent: 'worker-1', scope: 'task' } as const;
    await served.call('task.claim', { id, lease: 60 }, agent);
    const takeAway = () => served.call('task.claim', { id, force: true, assignee: 'worker-2' });
    served.betweenLookAndWrite(takeAway);
    expect(await served.fails(name, { id, ...more }, agent)).toMatchObject({
      code: 'permission_denied',
      details: { id, assignee: 'worker-2' },
    });
    expect(await served.call('task.show', { id })).toMatchObject({
      title: 'own',
      status: 'in_progress',
      assignee: 'worker-2',
      comments: [],
    });
  });

  test('edges of a task that goes to another agent in between stay as they are', async () => {
    await using served = await serve();
    const { id } = (await served.call('task.create', { title: 'own' })) as Task;
    const { id: to_id } = (await served.call('task.create', { title: 'other' })) as Task;
    const agent = { agent: 'worker-1', scope: 'task' } as const;
    await served.call('task.claim', { id }, agent);
    served.betweenLookAndWrite(() => served.call('task.claim', { id, force: true, assignee: 'worker-2' }));
    const edge = { from_id: id, to_id };
    expect((await served.fails('dep.add', edge, agent)).code).toBe('permission_denied');
    expect(await served.call('task.show', { id })).toMatchObject({ dependencies: [] });
  });

  test('a free task that somebody takes in between is not taken over', async () => {
    await using served = await serve();
    const { id } = (await served.call('task.create', { title: 'free' })) as Task;
    served.betweenLookAndWrite(() => served.call('task.claim', { id, assignee: 'worker-2' }));
    const taking = { id, title: 'mine now', assignee: 'worker-1' };
    expect((await served.fails('task.update', taking, { agent: 'worker-1', scope: 'task' })).code).toBe(
      'permission_denied',
    );
    expect(await served.call('task.show', { id })).toMatchObject({ title: 'free', assignee: 'worker-2' });
  });

  test('what an agent does to its own task is not refused for having given it away', async () => {
    await using served = await serve();
    const { id } = (await served.call('task.create', { title: 'own' })) as Task;
    const agent = { agent: 'worker-1', scope: 'task' } as const;
    await served.call('task.claim', { id }, agent);
    expect(await served.call('task.release', { id }, agent)).toMatchObject({ assignee: null });
    expect((await served.fails('task.comment', { id, body: 'x' }, agent)).code).toBe('permission_denied');
  });

  test('with several projects the id, the prefix or the name says which', async () => {
    await using served = await serve({ second: 'pb' });
    const there = (await served.call('task.create', { title: 'there' }, { project: 'pb' })) as Task;
    expect(there.id).toMatch(/^pb-/);
    expect(await served.call('task.show', { id: there.id })).toMatchObject({ title: 'there' });
    expect(await served.call('task.list', {}, { project: 'second' })).toHaveLength(1);
    expect(await served.call('task.list', {}, { project: 'fg' })).toHaveLength(0);
    expect(await served.fails('task.list', {})).toMatchObject({
      code: 'invalid_input',
      details: { projects: ['fg', 'pb'] },
    });
    expect((await served.fails('task.list', {}, { project: 'zz' })).code).toBe('not_found');
    expect((await served.fails('task.show', { id: 'zz-1234' })).code).toBe('not_found');
  });

  test('[S226] with several projects a run is found by its own id', async () => {
    await using served = await serve({ second: 'pb' });
    const runs: Run[] = [];
    for (const project of ['fg', 'pb']) {
      const { id } = (await served.call('task.create', { title: project }, { project })) as Task;
      runs.push(await served.addRun(project, id));
    }
    for (const run of runs) {
      const [task, project] = [run.task_id, run.task_id.slice(0, 2)];
      expect(await served.call('run.show', { id: run.id })).toMatchObject({ id: run.id, task_id: task });
      expect(await served.call('run.show', { id: run.id.slice(0, 12) })).toMatchObject({ task_id: task });
      expect(await served.call('run.list', { attempt: run.attempt_id })).toMatchObject([{ id: run.id }]);
      expect(await served.call('run.logs', { id: run.id }, { project })).toMatchObject({ run_id: run.id });
    }
    expect(await served.fails('run.show', { id: '0123456789abcdef' })).toMatchObject({
      code: 'not_found',
      details: { projects: ['fg', 'pb'] },
    });
    // Both begin with it.
    expect(await served.fails('run.show', { id: 'aaaa' })).toMatchObject({ code: 'ambiguous_id' });
    expect((await served.fails('run.list', {})).code).toBe('invalid_input');
  });

  test('a task of one project waits for one of another', async () => {
    await using served = await serve({ second: 'pb' });
    const there = (await served.call('task.create', { title: 'there' }, { project: 'pb' })) as Task;
    const here = (await served.call('task.create', { title: 'here' }, { project: 'fg' })) as Task;
    await served.call('dep.add', { from_id: here.id, to_id: there.id });
    expect(await served.call('task.ready', {}, { project: 'fg' })).toEqual([]);
    await served.call('task.close', { id: there.id, reason: 'done' });
    expect(await served.call('task.ready', {}, { project: 'fg' })).toMatchObject([{ id: here.id }]);
  });

  test('a workflow without a state takes a map for its tasks', async () => {
    await using served = await serve();
    const { id } = (await served.call('task.create', { title: 'parked', state: 'backlog' })) as Task;
    const definition = {
      states: [
        { name: 'todo', kind: 'initial', next: ['doing'] },
        { name: 'doing', kind: 'active', next: ['done'] },
        { name: 'done', kind: 'terminal' },
        { name: 'cancelled', kind: 'terminal' },
      ],
    };
    expect((await served.fails('workflow.set', { definition })).hint).toContain('--map backlog=todo');
    expect((await served.fails('workflow.set', { definition, map: { backlog: 5 } })).code).toBe(
      'invalid_input',
    );
    const map = { backlog: 'todo' };
    expect(await served.call('workflow.set', { definition, map })).toMatchObject({
      mapped: [{ from: 'backlog', to: 'todo', tasks: 1 }],
    });
    expect(await served.call('task.ready', {})).toMatchObject([{ id, state: 'todo' }]);
  });

  test('a hundred calls at once for one task: one gets it', async () => {
    await using served = await serve();
    const { id } = (await served.call('task.create', { title: 'wanted' })) as Task;
    const tries = await Promise.allSettled(
      Array.from({ length: 100 }, (_, at) =>
        served.call('task.claim', { id }, { agent: `worker-${at}`, scope: 'task' }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const codes = tries.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as { code: string }).code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(['claim_conflict']));
  });
});

interface As {
  readonly scope?: Scope;
  readonly agent?: string;
  readonly project?: string;
}

async function serve({ second }: { second?: string } = {}) {
  const first = await tempRepo();
  const other = second === undefined ? undefined : await tempRepo();
  const home = join(first.path, '..', 'home');
  mkdirSync(home);
  const machine = testMachine(home);
  const place = { home: join(home, '.forge'), env: machine.env, homeDir: home };
  await initWithStore(first.path, machine, { name: 'first' });
  if (other !== undefined && second !== undefined) {
    await initWithStore(other.path, machine, { prefix: second, name: 'second' });
    const found = findProject(other.path, machine.env, home);
    await addProject(place, { found, name: undefined, now: 0 });
  }
  const { env, clock, program } = machine;
  const notice = (): void => undefined;
  const projects = await openServerProjects(
    { paths: [], cwd: first.path },
    { place, clock, env, program, notice },
  );
  let between: (() => Promise<unknown>) | undefined;
  const hooked: ServerProjects = { ...projects, find: async (ref) => hookProject(await projects.find(ref)) };
  /** The project as it is, but for one moment: after the look at who holds the task something else happens. */
  const hookProject = (project: ServerProject): ServerProject =>
    Object.assign(Object.create(project) as ServerProject, {
      useForOperation: (work: (open: OpenProject) => Promise<unknown>) =>
        project.useForOperation((open) =>
          work(Object.create(open, { store: { value: hookStore(open.store) } })),
        ),
    });
  const hookStore = (store: OpenProject['store']): OpenProject['store'] => ({
    ...store,
    async getTask(id) {
      const task = await store.getTask(id);
      const happening = between;
      between = undefined;
      await happening?.();
      return task;
    },
  });
  const deps = { projects: hooked, clock, place, machine, env, cwd: first.path, notice };
  const caller = createOperationCaller(deps);
  const call = (name: string, input: unknown, as: As = {}): Promise<unknown> => {
    const actor: Caller['actor'] =
      as.agent === undefined
        ? { kind: 'user', name: 'ada', named: true }
        : { kind: 'agent', name: as.agent, named: true };
    return caller.call({
      name,
      input,
      project: as.project,
      caller: { actor, scope: as.scope ?? 'admin', token: 'token-1' },
    });
  };
  return {
    call,
    /** The rows of a run, as whoever starts one writes them. */
    async addRun(project: string, task_id: string): Promise<Run> {
      const by = { actor: { kind: 'user', name: 'ada', named: true }, now: clock.now() } as const;
      const served = await projects.find({ project });
      return served.use(async ({ store }) => {
        const work = { task_id, agent: 'worker-1' };
        const place = { name: `${project}-x`, path: '/nowhere/x', target: 'main', port: null };
        const { id: attempt_id } = await store.startAttempt(
          { id: crypto.randomUUID(), ...work, ...place, base_commit: 'a'.repeat(40) },
          by,
        );
        const held = { fence: null, in_state: null };
        const how = {
          ...held,
          role: 'coder',
          executor: 'shell',
          state: 'scheduled',
          session_id: null,
        } as const;
        const id = `aaaa${crypto.randomUUID().slice(4)}`;
        return store.createRun({ id, ...work, attempt_id, ...how, watcher: readOwnIdentity() }, by);
      });
    },
    betweenLookAndWrite(happening: () => Promise<unknown>) {
      between = happening;
    },
    async fails(name: string, input: unknown, as: As = {}) {
      const error = await call(name, input, as).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!isForgeError(error)) throw new Error(`${name} did not fail as it should`, { cause: error });
      return error;
    },
    async [Symbol.asyncDispose]() {
      await projects[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      await other?.[Symbol.asyncDispose]();
    },
  };
}
