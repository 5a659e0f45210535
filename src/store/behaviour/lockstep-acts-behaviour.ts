import fc from 'fast-check';
import type { DependencyType } from '#contract/task.ts';
import type { Workflow } from '#contract/workflow.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import type { Json } from '#kernel/json.ts';
import type { AttemptStore } from '../attempt-store.ts';
import type { EventStore } from '../event-store.ts';
import type { IdempotencyStore } from '../idempotency-store.ts';
import type { TaskStore, Writer } from '../store.ts';
import type { Replication } from '../replication.ts';
import { takeIn, type Fate } from './lockstep-fold-behaviour.ts';
import { newTask } from './open-behaviour.ts';

/** The store as acts need it. */
export type Actors = TaskStore &
  AttemptStore &
  EventStore &
  IdempotencyStore &
  Pick<Replication, 'foldTasks'>;

/** What a side of the test has done so far. */
export interface Known {
  readonly store: Actors;
  /** Every id there ever was, oldest first. */
  readonly ids: string[];
}

/** One call of the port. */
export interface Act {
  readonly name: string;
  /** Milliseconds since the act before; clocks also stand still and go back. */
  readonly wait: number;
  readonly actor: { readonly kind: Writer['actor']['kind']; readonly name: string };
  readonly condition: Condition;
  /** What is asked for, with numbers in place of tasks. */
  readonly asked: unknown;
  run(side: Known, by: Writer): Promise<unknown>;
}

/** What the writer may do at all: everything, no checks, or what belongs to an agent. */
export type Condition = 'none' | 'no checks' | 'holding';

export function toConditions(side: Known, condition: Condition): Partial<Writer> {
  if (condition === 'no checks') return { vouches: false };
  return condition === 'holding' ? { holding: { id: pick(side, 0), agent: 'bot', or_free: false } } : {};
}

const slot = fc.nat(9);
const actor = fc.constantFrom<Act['actor'][]>(
  { kind: 'user', name: 'ann' },
  { kind: 'user', name: 'bob' },
  { kind: 'agent', name: 'bot' },
  { kind: 'agent', name: 'ann' },
  { kind: 'system', name: 'forge' },
);
const owner = fc.constantFrom('ann', 'bob', 'bot');
const label = fc.constantFrom('x', 'y', 'Z');
const title = fc.constantFrom('A', 'b', 'Maße', 'CAFÉ', '𝒜', 'a "b" \\ c');
const type = fc.constantFrom('task', 'bug', 'epic');
const state = fc.constantFrom(
  'todo',
  'backlog',
  'in_progress',
  'review',
  'merging',
  'blocked',
  'done',
  'cancelled',
  'gone',
);
const dependencyType = fc.constantFrom<DependencyType[]>('blocks', 'blocks', 'related', 'discovered-from');
const reason = fc.constantFrom('done', 'cancelled: no', 'Duplicate');
const metadata = fc.array(
  fc.tuple(
    fc.constantFrom('k', '1', '__proto__', 'beads_id'),
    fc.constantFrom<Json[]>(1, 'bd-7', [null], { b: 1, a: 2 }),
  ),
  { maxLength: 2 },
);
const fields = fc.array(
  fc.constantFrom<[string, Json][]>(
    ['archived_at', '2026-01-01T00:00:00.000Z'],
    ['archived_at', null],
    ['role:reviewer', { agent: 'bot' }],
    ['role:reviewer', { user: 'ann' }],
    ['role:coder', { agent: 'ann' }],
    ['role:coder', null],
    ['review_config', { ci_steps: ['true'] }],
    ['review_passed_at', '2026-01-01T00:00:00.000Z'],
    ['own', { b: 1, a: [2] }],
  ),
  { maxLength: 2 },
);
/** Mostly nothing is said of what was seen before. */
export const seen = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  0,
  1,
  2,
);
export const seldom = fc.constantFrom(false, false, false, false, true);
const lease = fc.constantFrom(undefined, undefined, 60_000);
const wait = fc.constantFrom(1_000, 1_000, 1_000, 1, 0, -5_000, 90_000);
export const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/** The id of a task; what is none where there is no task yet. */
export function pick({ ids }: Known, at: number): string {
  return ids.length === 0 ? 'k99-none' : (ids[at % ids.length] ?? '');
}

const WORKFLOW: Workflow = {
  states: [
    { name: 'todo', kind: 'initial', next: ['doing', 'backlog'] },
    { name: 'backlog', kind: 'backlog', next: ['todo'] },
    { name: 'doing', kind: 'active', next: ['review', 'todo'] },
    { name: 'review', kind: 'gate', next: ['doing', 'done'] },
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
};

type Run<Asked> = (side: Known, by: Writer, asked: Asked) => Promise<unknown>;

export function act<Asked>(
  name: string,
  weight: number,
  { asked, run }: { readonly asked: fc.Arbitrary<Asked>; readonly run: Run<Asked> },
): { readonly weight: number; readonly arbitrary: fc.Arbitrary<Act> } {
  const any = fc.record({ wait, actor, condition, asked });
  return {
    weight,
    arbitrary: any.map((one) => ({ name, ...one, run: (side, by) => run(side, by, one.asked) })),
  };
}

const condition = fc.constantFrom<Condition[]>('none', 'none', 'none', 'none', 'no checks', 'holding');

export const create = act('create', 8, {
  asked: fc.record({
    title,
    type,
    priority: fc.nat(4),
    state: fc.constantFrom('todo', 'todo', 'backlog'),
    assignee: fc.option(owner, { freq: 3 }),
    labels: fc.array(label, { maxLength: 2 }),
    github_issue: fc.option(fc.constantFrom(1, 2)),
    parent: fc.option(slot, { freq: 3 }),
    blockers: fc.array(slot, { maxLength: 2 }),
    foreign: seldom,
    metadata,
    fields,
  }),
  async run(side, by, { parent, blockers, foreign, metadata, fields, ...rest }) {
    const isFirst = side.ids.length === 0;
    const more = {
      ...rest,
      id_prefix: `k${String(side.ids.length).padStart(2, '0')}`,
      parent_id: parent === null || isFirst ? null : pick(side, parent),
      depends_on: isFirst ? [] : blockers.map((at) => pick(side, at)),
      foreign_depends_on: foreign ? ['zz-away'] : [],
      metadata: new Map(metadata),
      workflow_fields: new Map(fields),
    };
    const task = await side.store.createTask(newTask(rest.title, more), by);
    side.ids.push(task.id);
    return task;
  },
});

export const anyAct: fc.Arbitrary<Act> = fc.oneof(
  create,
  act('update', 6, {
    asked: fc.record({
      at: slot,
      title: some(title),
      description: some(fc.constantFrom('', 'text', 'x'.repeat(5_000))),
      priority: some(fc.nat(4)),
      type: some(type),
      github_issue: some(fc.option(fc.constantFrom(1, 2))),
      parent: some(fc.option(slot)),
      labels_add: some(fc.array(label, { maxLength: 2 })),
      labels_remove: some(fc.array(label, { maxLength: 2 })),
      metadata_set: some(metadata),
      metadata_unset: some(fc.array(fc.constantFrom('k', '1'), { maxLength: 1 })),
      fields: some(fields),
      version: seen,
      fence: seen,
      life: some(
        fc.record({
          status: some(fc.constantFrom('open', 'in_progress', 'in_progress', 'closed')),
          state: some(state),
          assignee: some(fc.option(owner)),
        }),
      ),
      reason: some(reason),
    }),
    run(side, by, { at, parent, metadata_set, fields, life, ...rest }) {
      const wishes = {
        id: pick(side, at),
        ...rest,
        parent_id: typeof parent === 'number' ? pick(side, parent) : parent,
        metadata_set: metadata_set && new Map(metadata_set),
        workflow_fields: fields && new Map(fields),
      };
      return side.store.updateTask(
        life === undefined ? wishes : { ...wishes, ...life, agents: NO_AGENTS },
        by,
      );
    },
  }),
  act('claim', 4, {
    asked: fc.record({ at: slot, assignee: owner, force: fc.boolean(), fence: seen, lease_ms: lease }),
    run: (side, by, { at, ...claim }) =>
      side.store.claimTask({ id: pick(side, at), agents: NO_AGENTS, ...claim }, by),
  }),
  act('claim the next', 2, {
    asked: fc.record({
      assignee: owner,
      type: some(type),
      label: some(label),
      lease_ms: lease,
      sort: fc.constantFrom('priority', 'impact'),
    }),
    run: (side, by, claim) => side.store.claimNext({ agents: NO_AGENTS, ...claim }, by),
  }),
  act('release', 2, {
    asked: fc.record({ at: slot, owner, force: fc.boolean(), fence: seen, reason: fc.option(reason) }),
    run: (side, by, { at, ...release }) => side.store.releaseTask({ id: pick(side, at), ...release }, by),
  }),
  act('close', 3, {
    asked: fc.record({ at: slot, reason, force: fc.boolean(), version: seen, fence: seen }),
    run: (side, by, { at, ...close }) => side.store.closeTask({ id: pick(side, at), ...close }, by),
  }),
  act('reopen', 2, {
    asked: fc.record({ at: slot, reason: fc.option(reason), version: seen }),
    run: (side, by, { at, ...reopen }) => side.store.reopenTask({ id: pick(side, at), ...reopen }, by),
  }),
  act('move', 5, {
    asked: fc.record({
      at: slot,
      to: state,
      reason: fc.option(reason),
      rejection: fc.boolean(),
      version: seen,
    }),
    run: (side, by, { at, ...move }) =>
      side.store.moveTask({ id: pick(side, at), agents: NO_AGENTS, ...move }, by),
  }),
  act('delete', 2, {
    asked: fc.record({ at: slot, version: seen }),
    run: (side, by, { at, version }) => side.store.deleteTask({ id: pick(side, at), version }, by),
  }),
  act('restore', 3, {
    asked: slot,
    run: (side, by, at) => side.store.restoreTask({ id: pick(side, at) }, by),
  }),
  act('comment', 2, {
    asked: fc.record({ at: slot, body: fc.constantFrom('One', 'Two\nlines'), reply: fc.boolean() }),
    async run(side, by, { at, body, reply }) {
      const id = pick(side, at);
      const [last] = await side.store.listNewestComments({ id, limit: 1 });
      return side.store.addComment({ id, body, reply_to: reply ? (last?.id ?? 'c-none') : null }, by);
    },
  }),
  act('depend', 5, {
    asked: fc.record({ from: slot, to: slot, type: dependencyType, foreign: seldom }),
    run(side, by, { from, to, type, foreign }) {
      const to_id = foreign ? 'zz-away' : pick(side, to);
      return side.store.addDependency({ from_id: pick(side, from), to_id, type, foreign }, by);
    },
  }),
  act('free', 2, {
    asked: fc.record({ from: slot, to: slot, type: some(dependencyType), foreign: seldom }),
    run(side, by, { from, to, type, foreign }) {
      const to_id = foreign ? 'zz-away' : pick(side, to);
      return side.store.removeDependency({ from_id: pick(side, from), to_id, type }, by);
    },
  }),
  act('take in', 3, {
    asked: fc.record({
      at: slot,
      title,
      blockers: fc.array(slot, { maxLength: 2 }),
      parent: fc.option(slot),
      fate: fc.constantFrom<Fate[]>('new', 'new', 'edited', 'deleted', 'odd'),
      minutes: fc.constantFrom(-1, 0, 1, 2),
    }),
    async run(side, by, { at, blockers, parent, ...wish }) {
      const isNew = wish.fate === 'new' || wish.fate === 'odd';
      const id = isNew ? `k${String(side.ids.length).padStart(2, '0')}-there` : pick(side, at);
      const ties = {
        blockers: blockers.map((one) => pick(side, one)),
        parent_id: parent === null ? null : pick(side, parent),
      };
      const report = await takeIn(side.store, { id, ...wish, ...ties }, by);
      if (isNew) side.ids.push(id);
      return report;
    },
  }),
  act('mark foreign', 2, {
    asked: fc.boolean(),
    run: (side, _by, closed) => side.store.markForeign(new Map([['zz-away', closed]])),
  }),
  act('pause', 1, {
    asked: fc.boolean(),
    run: (side, by, paused) => side.store.pauseProject(paused, by),
  }),
  act('renew', 2, {
    asked: fc.record({ at: slot, fence: fc.nat(4) }),
    run: (side, by, { at, fence }) => side.store.renewLease({ id: pick(side, at), fence }, by),
  }),
  act('set the workflow', 1, {
    asked: fc.boolean(),
    async run(side, by, own) {
      const told = own
        ? { digest: 'own', definition: WORKFLOW }
        : { digest: 'built in', definition: undefined };
      return (await side.store.setWorkflow(told, by)).version;
    },
  }),
  act('map states', 1, {
    asked: fc.record({ from: state, to: state }),
    run: (side, by, { from, to }) => side.store.mapStates(new Map([[from, to]]), by),
  }),
  act('note an event', 1, {
    asked: fc.constantFrom({ b: 1, a: [] }, {}),
    run: (side, by, data) => side.store.noteEvent({ type: 'request.finished', data }, by),
  }),
  act('forget a watch', 1, { asked: slot, run: (side, _by, at) => side.store.forgetWatch(pick(side, at)) }),
  act('request', 2, {
    asked: fc.record({ key: fc.constantFrom('k', 'l'), digest: fc.constantFrom('d', 'e'), end: fc.nat(2) }),
    async run(side, by, { end, ...key }) {
      const request = { token: 't', ...key, now: by.now };
      const begun = await side.store.beginRequest(request);
      if (end === 0)
        await side.store.finishRequest(request, { status: 201, headers: { a: 'b' }, body: '{}' });
      if (end === 1) await side.store.dropRequest(request);
      return begun;
    },
  }),
  act('note hooks', 1, {
    asked: fc.record({ at: slot, to_state: state }),
    run(side, _by, { at, to_state }) {
      const results = [{ phase: 'on_enter', action: 'x', outcome: 'passed' }] as const;
      return side.store.recordHookResults({ id: pick(side, at), to_state, results });
    },
  }),
  act('attempt', 3, {
    asked: fc.record({ at: slot, n: fc.nat(5), fence: seen }),
    run(side, by, { at, n, fence }) {
      const names = { id: `a-${n}`, name: `try-${n}`, path: `/nowhere/${n}` };
      const commits = { target: 'main', base_commit: 'a'.repeat(40) };
      const more = { task_id: pick(side, at), agent: 'bot', port: null, fence };
      return side.store.startAttempt({ ...names, ...commits, ...more }, by);
    },
  }),
  act('end an attempt', 2, {
    asked: fc.record({
      n: fc.nat(5),
      state: fc.constantFrom('merged', 'archived'),
      merge_commit: some(fc.constant('c'.repeat(40))),
    }),
    run: (side, by, { n, ...change }) => side.store.changeAttempt({ id: `a-${n}`, ...change }, by),
  }),
);

/** Some tasks, then anything. */
export const someActs: fc.Arbitrary<Act[]> = fc
  .tuple(
    fc.array(create.arbitrary, { minLength: 2, maxLength: 5 }),
    fc.array(anyAct, { minLength: 10, maxLength: 50, size: 'max' }),
  )
  .map(([first, rest]) => [...first, ...rest]);
