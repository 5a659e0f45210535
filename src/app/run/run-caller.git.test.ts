import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import type { Actor } from '#domain/actor.ts';
import { createSecrets, type Secrets } from '#engine/agent-secrets.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OpenProject } from '#operations/operation.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { initWithStore, testMachine } from '../../../tests/support/sync-project.ts';
import { tempRepo } from '../../../tests/support/temp-repo.ts';
import { openServerProjects } from '../server-projects.ts';
import { createRunCaller, type RunCaller } from './run-caller.ts';

const AGENT: Actor = { kind: 'agent', name: 'Ada', named: true };
/** What a person gave the agent. */
const SECRET = 'correct-horse-battery';
const PERSON: Actor = { kind: 'user', name: 'Ada', named: true };

interface World {
  readonly create: (actor: Actor) => Promise<Task>;
  /** The operations as a run of the agent on this task has them. */
  readonly callFrom: (task_id: string) => Promise<RunCaller>;
}

async function inProject(
  work: (world: World) => Promise<void>,
  secrets: Secrets = createSecrets([SECRET]),
): Promise<void> {
  await using repo = await tempRepo();
  const home = join(repo.path, '..', 'home');
  mkdirSync(home);
  const machine = testMachine(home);
  const { env, clock, program } = machine;
  const place = { home: join(home, '.forge'), env, homeDir: home };
  await initWithStore(repo.path, machine, { name: 'first' });
  const notice = (): void => undefined;
  await using projects = await openServerProjects(
    { paths: [], cwd: repo.path },
    { place, clock, env, program, notice },
  );
  const served = await projects.find({ project: undefined });
  await served.useForOperation((project) => work(toWorld(project, { place, machine, secrets })));
}

function toWorld(project: OpenProject, deps: Omit<Parameters<typeof createRunCaller>[0], 'project'>): World {
  const { store, workflow, config } = project;
  const now = (): number => Date.now();
  return {
    create: (actor) =>
      store.createTask(
        {
          id_prefix: config.idPrefix,
          title: 'x',
          description: '',
          type: 'task',
          priority: 2,
          state: workflow().initial,
          parent_id: null,
          assignee: null,
          labels: [],
          github_issue: null,
          depends_on: [],
          foreign_depends_on: [],
          metadata: new Map(),
        },
        { actor, now: now() - 1_000 },
      ),
    async callFrom(task_id) {
      const by = { actor: PERSON, now: now() };
      const where = { name: task_id, path: `/nowhere/${task_id}`, target: 'main', port: null };
      const attempt = await store.startAttempt(
        { id: crypto.randomUUID(), task_id, agent: 'Ada', ...where, base_commit: 'a'.repeat(40) },
        by,
      );
      const how = { role: 'coder', executor: 'shell', state: 'scheduled', session_id: null } as const;
      const held = { task_id, attempt_id: attempt.id, agent: 'Ada', fence: null, in_state: null };
      const run = await store.createRun(
        { id: crypto.randomUUID(), ...held, ...how, watcher: readOwnIdentity() },
        by,
      );
      return createRunCaller({ project, ...deps }, run);
    },
  };
}

describe('what an agent writes in its run', () => {
  const looked: string[] = [];
  const known = createSecrets([SECRET]);
  const watched: Secrets = {
    ...known,
    redact(text) {
      looked.push(text);
      return known.redact(text);
    },
  };

  it('is looked at for secrets only where the run may write it', () =>
    inProject(async ({ create, callFrom }) => {
      const [own, other] = [await create(PERSON), await create(PERSON)];
      const call = await callFrom(own.id);
      await expect(call('task.update', { id: other.id, title: 'x' })).rejects.toMatchObject({
        code: 'permission_denied',
      });
      expect(looked).toEqual([]);
      await call('task.comment', { id: own.id, body: 'y' });
      expect(looked).not.toEqual([]);
    }, watched));

  it('is refused where it is long and holds one', () =>
    inProject(async ({ create, callFrom }) => {
      const own = await create(PERSON);
      const call = await callFrom(own.id);
      const long = 'lorem ipsum '.repeat(30_000);
      const put = (log: string) =>
        call('task.create', {
          title: 'x',
          metadata_set: { one: log.slice(0, 200_000), two: log.slice(200_000) },
        });
      await expect(put(`${long}${SECRET}`)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.not.stringContaining(SECRET) as string,
      });
      await put(long);
      expect(await put(`short ${SECRET}`)).toMatchObject({ metadata: { one: 'short [redacted]' } });
    }));
});

describe('work that agents give each other', () => {
  it('waits for a person where the task of the run was created in a run itself', () =>
    inProject(async ({ create, callFrom }) => {
      // An agent at a terminal is no run: its task is as good as one of a person.
      for (const first of [await create(PERSON), await create(AGENT)]) {
        const child = (await (await callFrom(first.id))('task.create', { title: 'child' })) as Task;
        expect(child).toMatchObject({ state: 'todo', labels: [] });
        const call = await callFrom(child.id);
        const below = (await call('task.create', { title: 'below', state: 'todo' })) as Task;
        const go = `forge task transition ${below.id} todo`;
        expect(below).toMatchObject({
          state: 'backlog',
          note: `It waits in backlog until a person lets it go: ${go}`,
        });
        const inbox = (await call('inbox.list', { kind: 'proposed' })) as InboxItem[];
        expect(inbox).toHaveLength(1);
        expect(inbox[0]?.message).toMatch(/propose/);
      }
    }));

  it('is bounded in each run', () =>
    inProject(async ({ create, callFrom }) => {
      const call = await callFrom((await create(PERSON)).id);
      await expect(call('task.create', { title: 'x', state: 'closed' })).rejects.toMatchObject({
        code: 'invalid_input',
      });
      for (let made = 0; made < LIMITS.run_created_tasks; made += 1)
        await call('task.create', { title: 'x' });
      await expect(call('task.create', { title: 'x' })).rejects.toMatchObject({
        code: 'permission_denied',
        details: { limit: LIMITS.run_created_tasks },
      });
    }));

  it('goes under its own task and what it made; a person of the same name is another', () =>
    inProject(async ({ create, callFrom }) => {
      const [own, ofPerson, ofAgent] = [await create(PERSON), await create(PERSON), await create(AGENT)];
      const call = await callFrom(own.id);
      for (const parent_id of [own.id, ofAgent.id])
        expect(await call('task.create', { title: 'x', parent_id })).toMatchObject({ parent_id });
      expect(await call('task.update', { id: ofAgent.id, title: 'Less' })).toMatchObject({ title: 'Less' });
      for (const [name, input] of [
        ['task.create', { title: 'x', parent_id: ofPerson.id }],
        ['task.update', { id: ofPerson.id, title: 'Less' }],
        ['task.comment', { id: ofPerson.id, body: 'x' }],
      ] as const)
        await expect(call(name, input)).rejects.toMatchObject({ code: 'permission_denied' });
    }));
});

describe('[H5] what an agent writes down in its run', () => {
  it('holds no secret of its own, and nothing that looks like a key', () =>
    inProject(async ({ create, callFrom }) => {
      const { id } = await create(PERSON);
      const call = await callFrom(id);
      const token = `ghp_${'a1B2'.repeat(9)}`;
      const encoded = Buffer.from(`x${SECRET}`).toString('base64');
      const body = `${SECRET} and ${token} and ${encoded}`;
      await call('task.comment', { id, body });
      const made = await call('task.create', { title: `Use ${SECRET}`, metadata_set: { [SECRET]: [token] } });
      const [comments, task] = [await call('task.comments', { id }), await call('task.show', { id })];
      for (const said of [made, comments, task].map((one) => JSON.stringify(one)))
        for (const secret of [SECRET, token, encoded.slice(4, -4)]) expect(said).not.toContain(secret);
      expect(made).toMatchObject({ title: 'Use [redacted]', metadata: { '[redacted]': ['[redacted]'] } });
      // All else stays as it is.
      expect(await call('task.comment', { id, body: 'a \\u0041 é' })).toMatchObject({ body: 'a \\u0041 é' });
    }));

  it('[S3] has nothing of a value that its key says to be secret', () =>
    inProject(async ({ create, callFrom }) => {
      const task = await create(PERSON);
      const call = await callFrom(task.id);
      const key = 'a1B2'.repeat(10);
      const basic = 'YWRtaW46aHVudGVyMjIyMg==';
      const metadata_set = {
        AWS_SECRET_ACCESS_KEY: key,
        Authorization: `Basic ${basic}`,
        env: [['AWS_SECRET_KEY', key]],
      };
      const made = await call('task.create', { title: 'x', metadata_set });
      const said = JSON.stringify([made, await call('task.update', { id: task.id, metadata_set })]);
      for (const secret of [key, basic]) expect(said).not.toContain(secret);
      expect(said).toContain('"AWS_SECRET_ACCESS_KEY":"[redacted]"');
    }));
});
