import { NO_AGENTS } from '#domain/claimer.ts';
import type { TaskType } from '#contract/task.ts';
import { listDependencies } from '#domain/record-codec.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import type { Json } from '#kernel/json.ts';
import type { TaskUpdate } from '#store/store.ts';
import type { Random } from './random.ts';
import type { SyncClone } from './sync-clone.ts';
import type { SyncState } from './sync-state.ts';

/** A write of somebody who works in a clone. Throws what the store refuses. Returns what was written. */
export type TaskStep = (clone: SyncClone, random: Random, state: SyncState) => Promise<string>;

export const TASK_STEPS = {
  create: async (clone, random, state) => {
    const task = await clone.store.createTask(
      {
        id_prefix: 'fg',
        title: `Made by ${clone.name} ${random.below(100)}`,
        description: '',
        type: random.pick(TYPES),
        priority: random.below(5),
        state: random.oneIn(6) ? 'backlog' : 'todo',
        parent_id: state.tasks.size > 0 && random.oneIn(4) ? pickTask(state, random) : null,
        assignee: null,
        labels: random.oneIn(2) ? [random.pick(WORDS)] : [],
        github_issue: null,
        depends_on: state.tasks.size > 0 && random.oneIn(3) ? [pickTask(state, random)] : [],
        metadata: new Map(random.oneIn(3) ? [[random.pick(WORDS), random.below(9)]] : []),
      },
      clone.by(),
    );
    return task.id;
  },
  edit: async (clone, random, state) => {
    const id = pickTask(state, random);
    const change = random.pick(EDITS)(random, state);
    await clone.store.updateTask({ id, ...change, agents: NO_AGENTS }, clone.by());
    return `${id} ${Object.keys(change).join()}`;
  },
  label: async (clone, random, state) => {
    const id = pickTask(state, random);
    const label = random.pick(WORDS);
    const change = random.oneIn(2) ? { labels_add: [label] } : { labels_remove: [label] };
    await clone.store.updateTask({ id, ...change }, clone.by());
    return `${id} ${JSON.stringify(change)}`;
  },
  metadata: async (clone, random, state) => {
    const id = pickTask(state, random);
    const key = random.pick(WORDS);
    const change = random.oneIn(3)
      ? { metadata_unset: [key] }
      : { metadata_set: new Map<string, Json>([[key, random.pick(VALUES)]]) };
    await clone.store.updateTask({ id, ...change }, clone.by());
    return `${id} ${key}`;
  },
  'dep add': async (clone, random, state) => {
    const from_id = pickTask(state, random);
    const to_id = pickTask(state, random, ({ id }) => id !== from_id);
    const type = random.pick(['blocks', 'related', 'discovered-from'] as const);
    await clone.store.addDependency({ from_id, to_id, type }, clone.by());
    return `${from_id} ${type} ${to_id}`;
  },
  'dep remove': async (clone, random, state) => {
    const from_id = pickTask(state, random, (record) => listDependencies(record).length > 0);
    const from = [...state.tasks.values()].find(({ id }) => id === from_id);
    const to_id =
      from === undefined ? 'fg-none' : random.pick([...listDependencies(from), { id: 'fg-none' }]).id;
    await clone.store.removeDependency({ from_id, to_id, type: undefined }, clone.by());
    return `${from_id} ${to_id}`;
  },
  comment: async (clone, random, state) => {
    const id = pickTask(state, random);
    await clone.store.addComment({ id, body: `Said ${random.below(100)}`, reply_to: null }, clone.by());
    return id;
  },
  claim: async (clone, random, state) => {
    const id = pickTask(state, random);
    const assignee = pickPerson(clone, random);
    const { outcome } = await clone.store.claimTask(
      { id, assignee, force: false, agents: NO_AGENTS },
      clone.by(),
    );
    return `${id} for ${assignee}: ${outcome}`;
  },
  takeover: async (clone, random, state) => {
    const id = pickTask(state, random);
    const assignee = pickPerson(clone, random);
    const { outcome } = await clone.store.claimTask(
      { id, assignee, force: true, agents: NO_AGENTS },
      clone.by(),
    );
    return `${id} for ${assignee}: ${outcome}`;
  },
  release: async (clone, random, state) => {
    const id = pickTask(state, random, ({ life }) => life.status === 'in_progress');
    await clone.store.releaseTask({ id, owner: clone.name, force: true, reason: null }, clone.by());
    return id;
  },
  close: async (clone, random, state) => {
    const id = pickTask(state, random);
    await clone.store.closeTask({ id, reason: random.pick(['Done', 'duplicate of it']) }, clone.by());
    return id;
  },
  reopen: async (clone, random, state) => {
    const id = pickTask(state, random, ({ life }) => life.status === 'closed');
    await clone.store.reopenTask({ id, reason: null }, clone.by());
    return id;
  },
  delete: async (clone, random, state) => {
    const id = pickTask(state, random);
    await clone.store.deleteTask({ id }, clone.by());
    return id;
  },
  restore: async (clone, random, state) => {
    const deleted = [...state.tasks.values()].filter(isDeleted).map(({ id }) => id);
    if (deleted.length === 0) return 'nothing is deleted';
    const id = random.pick(deleted);
    await clone.store.restoreTask({ id }, clone.by());
    return id;
  },
  settle: async (clone, random) => {
    const conflicts = await clone.store.listConflicts(undefined);
    if (conflicts.length === 0) return 'no conflicts';
    const { id, name } = random.pick(conflicts);
    await clone.store.settleConflicts({ id, field: name, take_lost: random.oneIn(2) }, clone.by());
    return `${id} ${name}`;
  },
  compact: async (clone) => {
    const { after } = await clone.store.compactReplica(clone.by());
    return `${after} bytes`;
  },
} satisfies Record<string, TaskStep>;

const TYPES: readonly TaskType[] = ['task', 'bug', 'feature', 'epic', 'message'];
const WORDS = ['core', '__proto__', 'constructor', '10', 'status', 'é'] as const;
const VALUES: readonly Json[] = [null, 1, 'text', [1, { b: 1, a: [] }], true];

const EDITS: readonly ((random: Random, state: SyncState) => Omit<TaskUpdate, 'id'>)[] = [
  (random) => ({ title: `Title ${random.below(100)}` }),
  (random) => ({ description: `Text ${random.below(100)}` }),
  (random) => ({ priority: random.below(5) }),
  (random) => ({ type: random.pick(TYPES) }),
  (random) => ({ github_issue: random.oneIn(3) ? null : random.below(50) + 1 }),
  (random, state) => ({ parent_id: random.oneIn(3) ? null : pickTask(state, random) }),
  (random) => ({ state: random.pick(['todo', 'backlog'] as const) }),
  (random) => ({ title: `Both ${random.below(100)}`, description: `Both ${random.below(100)}` }),
];

/** A living task, if possible one that fits; where there is none, the store refuses. */
function pickTask(
  state: SyncState,
  random: Random,
  fits: (record: TaskRecord) => boolean = () => true,
): string {
  const alive = [...state.tasks.values()].filter((record) => !isDeleted(record));
  const fitting = alive.filter(fits);
  const ids = (fitting.length === 0 ? alive : fitting).map(({ id }) => id);
  return ids.length === 0 ? 'fg-none' : random.pick(ids.sort());
}

function pickPerson(clone: SyncClone, random: Random): string {
  return random.pick(['worker-1', 'worker-2', clone.name]);
}
