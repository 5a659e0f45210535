import { NO_AGENTS } from '#domain/claimer.ts';
import fc from 'fast-check';
import type { Comment, DependencyType, Task } from '#contract/task.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import type { NewTaskInput, TaskStore, TaskUpdate, Writer } from '../store.ts';
import type { StoreModel } from './model-behaviour.ts';
import { plainTask, type ModelTask } from './model-task-behaviour.ts';

/** One write: what it does to the store, and what the model says that it should have done. */
export interface Command {
  /** Milliseconds since the write before; clocks also stand still and go back. */
  readonly wait: number;
  run(world: World, by: Writer): Promise<Answer>;
}

export interface World {
  readonly store: TaskStore;
  readonly model: StoreModel;
  /** Every id there ever was, oldest first. */
  readonly ids: string[];
}

/** Both sides have to be equal. */
export interface Answer {
  readonly store: unknown;
  readonly model: unknown;
}

const OWNERS = ['ann', 'bob', 'carol'];
const slot = fc.nat(9);
const owner = fc.constantFrom(...OWNERS);
const maybeOwner = fc.option(owner);
const label = fc.constantFrom('x', 'y', 'z');
const type = fc.constantFrom('task', 'bug', 'epic');
const dependencyType = fc.constantFrom<DependencyType[]>(
  'blocks',
  'blocks',
  'blocks',
  'related',
  'discovered-from',
);
const reason = fc.constantFrom('done', 'cancelled: no', 'Duplicate');
const metadata = fc.array(
  fc.tuple(fc.constantFrom('k', '1', '__proto__'), fc.constantFrom<Json[]>(1, 'v', [null], { a: 1 })),
  {
    maxLength: 2,
  },
);
/** Usually right: how far the number that is asked for is from the true one. */
const guess = fc.constantFrom(undefined, undefined, undefined, 0, 0, 1);
const wait = fc.constantFrom(1_000, 1_000, 1, 0, 0, -5_000);
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const create = fc.record({
  wait,
  title: fc.constantFrom('A', 'B', 'C'),
  type,
  priority: fc.nat(4),
  state: fc.constantFrom('todo', 'todo', 'backlog'),
  assignee: fc.option(owner, { freq: 3 }),
  labels: fc.array(label, { maxLength: 2 }),
  parent: fc.option(slot),
  blockers: fc.array(slot, { maxLength: 2 }),
  metadata,
});

const update = fc.record({
  wait,
  at: slot,
  title: some(fc.constantFrom('A', 'B', 'D')),
  description: some(fc.constantFrom('', 'text')),
  priority: some(fc.nat(4)),
  type: some(type),
  github_issue: some(fc.option(fc.constantFrom(1, 2))),
  parent: some(fc.option(slot)),
  status: some(fc.constantFrom('open', 'in_progress', 'in_progress', 'closed')),
  state: some(fc.constantFrom('todo', 'backlog')),
  assignee: some(maybeOwner),
  reason: some(reason),
  labels_add: some(fc.array(label, { maxLength: 2 })),
  labels_remove: some(fc.array(label, { maxLength: 2 })),
  metadata_set: some(metadata),
  metadata_unset: some(fc.array(fc.constantFrom('k', '1'), { maxLength: 1 })),
  version: guess,
  fence: guess,
});

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: create.map(toCreate) },
  { weight: 6, arbitrary: update.map(toUpdate) },
  { weight: 3, arbitrary: fc.record({ wait, at: slot, assignee: owner, force: fc.boolean() }).map(toClaim) },
  {
    weight: 2,
    arbitrary: fc.record({ wait, assignee: owner, type: some(type), label: some(label) }).map(toClaimNext),
  },
  {
    weight: 2,
    arbitrary: fc.record({ wait, at: slot, owner, force: fc.boolean(), fence: guess }).map(toRelease),
  },
  { weight: 4, arbitrary: fc.record({ wait, at: slot, reason, version: guess, fence: guess }).map(toClose) },
  { weight: 2, arbitrary: fc.record({ wait, at: slot, version: guess }).map(toReopen) },
  { weight: 3, arbitrary: fc.record({ wait, at: slot, version: guess }).map(toDelete) },
  { weight: 4, arbitrary: fc.record({ wait, at: slot }).map(toRestore) },
  {
    weight: 1,
    arbitrary: fc.record({ wait, at: slot, reply: fc.constantFrom('none', 'last', 'wrong') }).map(toComment),
  },
  { weight: 6, arbitrary: fc.record({ wait, from: slot, to: slot, type: dependencyType }).map(toAddEdge) },
  {
    weight: 2,
    arbitrary: fc.record({ wait, from: slot, to: slot, type: some(dependencyType) }).map(toRemoveEdge),
  },
);

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;

function toCreate({ wait, parent, blockers, metadata, ...rest }: Of<typeof create>): Command {
  return command(
    'create',
    { wait, parent, blockers, metadata, ...rest },
    async ({ store, model, ids }, by) => {
      const input: NewTaskInput = {
        ...rest,
        id_prefix: 'fg',
        description: '',
        github_issue: null,
        parent_id: parent === null || ids.length === 0 ? null : idAt(ids, parent),
        depends_on: ids.length === 0 ? [] : blockers.map((at) => idAt(ids, at)),
        metadata: new Map(metadata),
      };
      const made = await outcome(() => store.createTask(input, by));
      const id = 'value' in made ? made.value.id : 'fg-none';
      const expected = await outcome(() => plainTask(model.create(id, input, by)));
      if ('value' in made) ids.push(id);
      return { store: withoutTimes(made), model: expected };
    },
  );
}

function toUpdate({ wait, at, parent, metadata_set, version, fence, ...rest }: Of<typeof update>): Command {
  return command(
    'update',
    { wait, at, parent, metadata_set, version, fence, ...rest },
    async ({ store, model, ids }, by) => {
      const id = idAt(ids, at);
      const task = model.tasks.get(id);
      const change: TaskUpdate = {
        ...rest,
        id,
        agents: NO_AGENTS,
        parent_id: typeof parent === 'number' ? idAt(ids, parent) : parent,
        metadata_set: metadata_set && new Map(metadata_set),
        version: offBy(task?.version, version),
        fence: offBy(task?.fence, fence),
      };
      const made = await outcome(() => store.updateTask(change, by));
      const expected = await outcome(() => {
        const result = model.update(change, by);
        const claimed = result.claimed === undefined ? {} : { claimed: result.claimed };
        return {
          ...plainTask(result.task),
          ...claimed,
          ...(result.claimed === true && { fence: result.task.fence }),
        };
      });
      return { store: withoutTimes(made), model: expected };
    },
  );
}

function toClaim({ at, ...claim }: { wait: number; at: number; assignee: string; force: boolean }): Command {
  return command('claim', { at, ...claim }, async ({ store, model, ids }, by) => {
    const asked = { ...claim, id: idAt(ids, at), agents: NO_AGENTS };
    const made = await outcome(async () => {
      const result = await store.claimTask(asked, by);
      const more = result.outcome === 'claimed' ? { fence: result.fence } : {};
      return {
        said: result.outcome === 'taken' ? `taken by ${result.owner}` : result.outcome,
        version: result.task.version,
        ...more,
      };
    });
    const expected = await outcome(() => {
      const said = model.claim(asked);
      const { version, fence } = model.get(asked.id);
      return { said, version, ...(said === 'claimed' && { fence }) };
    });
    return { store: made, model: expected };
  });
}

function toClaimNext(claim: {
  wait: number;
  assignee: string;
  type: Task['type'] | undefined;
  label: string | undefined;
}): Command {
  return command('claimNext', claim, async ({ store, model }, by) => {
    const made = await outcome(() => store.claimNext({ ...claim, agents: NO_AGENTS }, by));
    const expected = await outcome(() => withFence(model.claimNext(claim)));
    return { store: withoutTimes(made), model: expected };
  });
}

function toRelease({
  at,
  fence,
  ...release
}: {
  wait: number;
  at: number;
  owner: string;
  force: boolean;
  fence: number | undefined;
}): Command {
  return command('release', { at, fence, ...release }, async ({ store, model, ids }, by) => {
    const id = idAt(ids, at);
    const asked = { ...release, id, reason: null, fence: offBy(model.tasks.get(id)?.fence, fence) };
    const made = await outcome(() => store.releaseTask(asked, by));
    return { store: withoutTimes(made), model: await outcome(() => plainTask(model.release(asked))) };
  });
}

function toClose({
  at,
  version,
  fence,
  ...close
}: {
  wait: number;
  at: number;
  reason: string;
  version: number | undefined;
  fence: number | undefined;
}): Command {
  return command('close', { at, version, fence, ...close }, async ({ store, model, ids }, by) => {
    const id = idAt(ids, at);
    const task = model.tasks.get(id);
    const asked = { ...close, id, version: offBy(task?.version, version), fence: offBy(task?.fence, fence) };
    const made = await outcome(() => store.closeTask(asked, by));
    return {
      store: withoutTimes(made),
      model: await outcome(() => {
        const { task: closed, unblocked } = model.close(asked);
        return { ...plainTask(closed), unblocked };
      }),
    };
  });
}

function toReopen({
  at,
  version,
  ...rest
}: {
  wait: number;
  at: number;
  version: number | undefined;
}): Command {
  return command('reopen', { at, version, ...rest }, async ({ store, model, ids }, by) => {
    const id = idAt(ids, at);
    const asked = { id, reason: null, version: offBy(model.tasks.get(id)?.version, version) };
    const made = await outcome(() => store.reopenTask(asked, by));
    return { store: withoutTimes(made), model: await outcome(() => plainTask(model.reopen(asked))) };
  });
}

function toDelete({
  at,
  version,
  ...rest
}: {
  wait: number;
  at: number;
  version: number | undefined;
}): Command {
  return command('delete', { at, version, ...rest }, async ({ store, model, ids }, by) => {
    const id = idAt(ids, at);
    const asked = { id, version: offBy(model.tasks.get(id)?.version, version) };
    const made = await outcome(async () => {
      const { orphaned, unblocked } = await store.deleteTask(asked, by);
      return { orphaned, unblocked };
    });
    return { store: made, model: await outcome(() => model.remove(asked)) };
  });
}

/** Of the deleted ones, as long as there are any. */
function toRestore({ at, ...rest }: { wait: number; at: number }): Command {
  return command('restore', { at, ...rest }, async ({ store, model, ids }, by) => {
    const id = model.deleted.size === 0 ? idAt(ids, at) : idAt([...model.deleted.keys()], at);
    const made = await outcome(() => store.restoreTask({ id }, by));
    return { store: withoutTimes(made), model: await outcome(() => plainTask(model.restore(id))) };
  });
}

function toComment({ at, reply, ...rest }: { wait: number; at: number; reply: string }): Command {
  return command('comment', { at, reply, ...rest }, async ({ store, model, ids }, by) => {
    const id = idAt(ids, at);
    const last = model.tasks.get(id)?.comments.at(-1)?.id ?? null;
    const reply_to = reply === 'none' ? null : reply === 'last' ? last : 'c-wrong';
    let added: Comment | undefined;
    const made = await outcome(async () => {
      const { task_id, ...comment } = await store.addComment({ id, body: 'Hm', reply_to }, by);
      added = comment;
      return task_id;
    });
    const expected = await outcome(() => {
      model.comment(id, reply_to, added);
      return id;
    });
    return { store: made, model: expected };
  });
}

function toAddEdge({
  from,
  to,
  ...rest
}: {
  wait: number;
  from: number;
  to: number;
  type: DependencyType;
}): Command {
  return command('addEdge', { from, to, ...rest }, async ({ store, model, ids }, by) => {
    const edge = { from_id: idAt(ids, from), to_id: idAt(ids, to), type: rest.type };
    const made = await outcome(async () => (await store.addDependency(edge, by)).added);
    return { store: made, model: await outcome(() => model.addEdge(edge)) };
  });
}

function toRemoveEdge({
  from,
  to,
  ...rest
}: {
  wait: number;
  from: number;
  to: number;
  type: DependencyType | undefined;
}): Command {
  return command('removeEdge', { from, to, ...rest }, async ({ store, model, ids }, by) => {
    const edge = { from_id: idAt(ids, from), to_id: idAt(ids, to), type: rest.type };
    const made = await outcome(async () => (await store.removeDependency(edge, by)).removed);
    return { store: made, model: await outcome(() => model.removeEdge(edge)) };
  });
}

/** Its text is what a failing run prints. */
function command<D extends { wait: number }>(name: string, details: D, run: Command['run']): Command {
  return { wait: details.wait, run, toString: () => `${name} ${JSON.stringify(details)}` } as Command;
}

type Outcome<T> = { value: T } | { code: string };

async function outcome<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { code: error.code };
  }
}

function withoutTimes<T extends Task>(made: Outcome<T | undefined>): unknown {
  if (!('value' in made) || made.value === undefined) return made;
  const { updated_at: _updated, closed_at: _closed, former_owner: _former, ...rest } = made.value;
  return { value: rest };
}

function withFence(task: ModelTask | undefined) {
  return task && { ...plainTask(task), fence: task.fence };
}

function idAt(ids: readonly string[], at: number): string {
  return ids[at % ids.length] ?? 'fg-none';
}

function offBy(number: number | undefined, distance: number | undefined): number | undefined {
  return number === undefined || distance === undefined ? undefined : number + distance;
}
