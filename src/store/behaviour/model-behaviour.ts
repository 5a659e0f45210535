import { NO_AGENTS } from '#domain/claimer.ts';
import type { Comment, DependencyType, ResolvedDependency, TaskView } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError, type ErrorCode } from '#kernel/errors.ts';
import { compareText } from '#kernel/text.ts';
import type { NewTaskInput, ReadyQuery, TaskUpdate, Writer } from '../store.ts';
import { nextLife, type ModelLife } from './model-life-behaviour.ts';
import {
  copyTask,
  fingerprint,
  listEdges,
  plainTask,
  summary,
  type ModelTask,
} from './model-task-behaviour.ts';

/** Wrong beliefs that can be planted; a test that does not notice one tests nothing. */
export const FLAWS = [
  'closing a blocker does not free',
  'related blocks',
  'parked tasks are ready',
  'reserved tasks are ready',
  'age does not count in the order',
  'deleting keeps the children',
  'a lost claim renames',
  'reopening keeps the owner',
  'restoring forgets the dependents',
  'cycles are allowed',
  'a takeover keeps the fence',
  'an update without a change is a new version',
] as const;
export type Flaw = (typeof FLAWS)[number];

export interface ModelDeleted {
  readonly task: ModelTask;
  /** What hung on it, as long as the database remembers; a replay knows the task's content alone. */
  readonly children: readonly string[];
  readonly dependents: readonly (readonly [string, DependencyType])[];
  /** Tells one deletion of a task from the next. */
  readonly serial: number;
}

/** A task store as a child would write it: maps, loops, no index, no triggers. */
export class StoreModel {
  readonly tasks = new Map<string, ModelTask>();
  readonly deleted = new Map<string, ModelDeleted>();
  readonly #flaw: Flaw | undefined;
  #deletions = 0;

  constructor(flaw?: Flaw) {
    this.#flaw = flaw;
  }

  create(id: string, input: NewTaskInput, by: Writer): ModelTask {
    if (input.parent_id !== null) this.get(input.parent_id);
    for (const blocker of input.depends_on) this.get(blocker);
    if (this.tasks.has(id) || this.deleted.has(id)) throw new Error(`the id ${id} was given twice`);
    const { title, description, priority, type, parent_id, github_issue, state, assignee } = input;
    const task: ModelTask = {
      id,
      title,
      description,
      priority,
      type,
      parent_id,
      github_issue,
      state,
      assignee,
      created_at: toIso(by.now),
      created_by: by.actor.name,
      status: 'open',
      close_reason: undefined,
      edges: new Set(input.depends_on.map((blocker) => `${blocker} blocks`)),
      labels: new Set(input.labels),
      metadata: new Map(input.metadata),
      comments: [],
      version: 1,
      fence: assignee === null ? 0 : 1,
    };
    this.tasks.set(id, task);
    return task;
  }

  update(change: TaskUpdate, by: Writer): { task: ModelTask; claimed?: boolean } {
    const task = this.get(change.id);
    this.#checkNumbers(task, change);
    const life = nextLife(task, change, by.actor.name);
    if (life === 'refused') throw refusal('state_invalid');
    if (life === 'lost') {
      if (this.#flaw === 'a lost claim renames') task.title = change.title ?? task.title;
      return { task, claimed: false };
    }
    const begins = typeof life === 'object' && life.status === 'in_progress';
    if (begins && this.openBlockers(task) > 0) throw refusal('dependency_gate');
    if (change.parent_id !== undefined && change.parent_id !== null) {
      this.get(change.parent_id);
      if (this.#isInside(change.parent_id, task.id)) throw refusal('dependency_cycle');
    }
    const noChangeCounts = this.#flaw === 'an update without a change is a new version';
    this.#edit(task, () => {
      for (const name of ['title', 'description', 'priority', 'type', 'github_issue', 'parent_id'] as const) {
        const value = change[name];
        if (value !== undefined) Object.assign(task, { [name]: value });
      }
      for (const label of change.labels_remove ?? []) task.labels.delete(label);
      for (const label of change.labels_add ?? []) task.labels.add(label);
      for (const key of change.metadata_unset ?? []) task.metadata.delete(key);
      for (const [key, value] of change.metadata_set ?? []) task.metadata.set(key, value);
      if (life !== 'keep' && life !== 'mine') this.#live(task, life);
      if (noChangeCounts) task.version += 1;
    });
    const asked = change.status === 'in_progress' && change.assignee !== undefined;
    return asked ? { task, claimed: true } : { task };
  }

  claim(claim: { id: string; assignee: string; force: boolean }): string {
    const task = this.get(claim.id);
    if (task.status === 'closed') return 'closed';
    if (task.status === 'in_progress' && task.assignee === claim.assignee) return 'claimed';
    if (!claim.force) {
      if (task.assignee !== null && task.assignee !== claim.assignee) return `taken by ${task.assignee}`;
      if (task.state === 'backlog') return 'parked';
      if (this.openBlockers(task) > 0) return 'blocked';
    }
    this.#start(task, claim.assignee);
    return 'claimed';
  }

  claimNext(query: ReadyQuery & { assignee: string }): ModelTask | undefined {
    // An epic is done when its children are: it is handed out after them.
    const first = this.ready(query).find(
      (task) => task.type !== 'epic' || query.type === 'epic' || !this.#hasOpenChildren(task),
    );
    if (first !== undefined) this.#start(first, query.assignee);
    return first;
  }

  #hasOpenChildren({ id }: ModelTask): boolean {
    return this.list().some(({ parent_id, status }) => parent_id === id && status !== 'closed');
  }

  release(release: { id: string; owner: string; force: boolean; fence?: number | undefined }): ModelTask {
    const task = this.get(release.id);
    if (task.status !== 'in_progress') throw refusal('state_invalid');
    this.#checkNumbers(task, { fence: release.fence });
    if (task.assignee !== release.owner && !release.force) throw refusal('claim_conflict');
    const free = { status: 'open', state: 'todo', assignee: null, close_reason: undefined } as const;
    return this.#edit(task, () => this.#live(task, free));
  }

  close(close: { id: string; reason: string; version?: number | undefined; fence?: number | undefined }): {
    task: ModelTask;
    unblocked: string[];
  } {
    const wasOpen = this.tasks.get(close.id)?.status !== 'closed';
    const { id, reason, version, fence } = close;
    const by: Writer = { actor: { kind: 'agent', name: 'nobody', named: true }, now: 0 };
    const { task } = this.update({ id, status: 'closed', reason, version, fence, agents: NO_AGENTS }, by);
    const freed = this.list().filter(
      (from) => from.status === 'open' && from.edges.has(`${id} blocks`) && this.openBlockers(from) === 0,
    );
    return { task, unblocked: wasOpen ? freed.map((from) => from.id) : [] };
  }

  reopen(reopen: { id: string; version?: number | undefined }): ModelTask {
    const task = this.get(reopen.id);
    this.#checkNumbers(task, reopen);
    if (task.status !== 'closed') throw refusal('state_invalid');
    const assignee = this.#flaw === 'reopening keeps the owner' ? task.assignee : null;
    return this.#edit(task, () =>
      this.#live(task, { status: 'open', state: 'todo', assignee, close_reason: undefined }),
    );
  }

  remove(remove: { id: string; version?: number | undefined }): { orphaned: string[]; unblocked: string[] } {
    const task = this.get(remove.id);
    this.#checkNumbers(task, remove);
    const { id } = task;
    const byId = [...this.tasks.values()].sort((a, b) => compareText(a.id, b.id));
    const children = byId.filter((child) => child.parent_id === id);
    const dependents = byId.flatMap((from) =>
      listEdges(from).flatMap((edge) => (edge.id === id ? [{ from, type: edge.type }] : [])),
    );
    const held = [
      ...new Set(dependents.filter(({ type }) => type === 'blocks').map(({ from }) => from)),
    ].filter((from) => this.openBlockers(from) > 0);
    this.deleted.set(id, {
      task: copyTask(task),
      children: children.map((child) => child.id),
      dependents: dependents.map(({ from, type }) => [from.id, type]),
      serial: (this.#deletions += 1),
    });
    // A neighbour has one version more, however many ties it had.
    for (const neighbour of this.tasks.values()) {
      this.#edit(neighbour, () => {
        if (neighbour.parent_id === id && this.#flaw !== 'deleting keeps the children')
          neighbour.parent_id = null;
        for (const { type } of dependents) neighbour.edges.delete(`${id} ${type}`);
      });
    }
    this.tasks.delete(id);
    const unblocked = held.filter((from) => this.openBlockers(from) === 0).map((from) => from.id);
    return { orphaned: children.map((child) => child.id), unblocked };
  }

  restore(id: string): ModelTask {
    const gone = this.deleted.get(id);
    if (gone === undefined) throw refusal('not_found');
    const task = copyTask(gone.task);
    if (task.parent_id !== null && !this.tasks.has(task.parent_id)) task.parent_id = null;
    task.version += 1;
    task.fence += 1;
    this.deleted.delete(id);
    this.tasks.set(id, task);
    for (const from of this.tasks.values()) {
      const edge = `${id} blocks`;
      if (from.edges.has(edge) && this.#waitsFor(id, from.id))
        this.#edit(from, () => from.edges.delete(edge));
    }
    for (const neighbour of this.tasks.values()) {
      const name = neighbour.id;
      this.#edit(neighbour, () => {
        if (gone.children.includes(name) && neighbour.parent_id === null && !this.#isInside(id, name))
          neighbour.parent_id = id;
        if (this.#flaw === 'restoring forgets the dependents') return;
        for (const [from, type] of gone.dependents)
          if (from === name && (type !== 'blocks' || !this.#waitsFor(id, name)))
            neighbour.edges.add(`${id} ${type}`);
      });
    }
    return task;
  }

  comment(id: string, reply: string | null, added: Comment | undefined): void {
    const task = this.get(id);
    if (reply !== null && !task.comments.some((comment) => comment.id === reply)) throw refusal('not_found');
    if (added === undefined) throw new Error('a comment was refused without a reason');
    this.#edit(task, () => task.comments.push(added));
  }

  addEdge(edge: { from_id: string; to_id: string; type: DependencyType }): boolean {
    const from = this.get(edge.from_id);
    const to = this.get(edge.to_id);
    if (from === to) throw refusal('dependency_cycle');
    const name = `${to.id} ${edge.type}`;
    if (from.edges.has(name)) return false;
    if (edge.type === 'blocks' && this.#waitsFor(to.id, from.id)) throw refusal('dependency_cycle');
    this.#edit(from, () => from.edges.add(name));
    return true;
  }

  removeEdge(edge: { from_id: string; to_id: string; type: DependencyType | undefined }): DependencyType[] {
    const from = this.get(edge.from_id);
    const types = listEdges(from).flatMap(({ id, type }) =>
      id === edge.to_id && (edge.type === undefined || type === edge.type) ? [type] : [],
    );
    if (types.length === 0) throw refusal('not_found');
    this.#edit(from, () => types.forEach((type) => from.edges.delete(`${edge.to_id} ${type}`)));
    return types;
  }

  get(id: string): ModelTask {
    const task = this.tasks.get(id);
    if (task === undefined) throw refusal('not_found');
    return task;
  }

  /** By priority, age, id. */
  list(): ModelTask[] {
    const age = (a: ModelTask, b: ModelTask): number =>
      this.#flaw === 'age does not count in the order' ? 0 : compareText(a.created_at, b.created_at);
    return [...this.tasks.values()].sort(
      (a, b) => a.priority - b.priority || age(a, b) || compareText(a.id, b.id),
    );
  }

  ready(query: ReadyQuery): ModelTask[] {
    return this.list().filter((task) => {
      const mine = task.assignee === null || task.assignee === query.assignee;
      if (!mine && this.#flaw !== 'reserved tasks are ready') return false;
      if (task.state === 'backlog' && this.#flaw !== 'parked tasks are ready') return false;
      if (query.type !== undefined && task.type !== query.type) return false;
      if (query.label !== undefined && !task.labels.has(query.label)) return false;
      return task.status === 'open' && this.openBlockers(task) === 0;
    });
  }

  openBlockers(task: ModelTask): number {
    return listEdges(task).filter(({ id, type }) => {
      if (type !== 'blocks' && !(type === 'related' && this.#flaw === 'related blocks')) return false;
      if (this.#flaw === 'closing a blocker does not free') return true;
      // Nobody waits for a task that was deleted, also when its dependent comes back from a deletion of its own.
      return this.tasks.get(id)?.status !== 'closed' && !this.deleted.has(id);
    }).length;
  }

  view(task: ModelTask): Omit<TaskView, 'updated_at' | 'closed_at'> {
    const subtasks = this.list().filter((child) => child.parent_id === task.id);
    const counts = {
      child_count: subtasks.length,
      closed_child_count: subtasks.filter(({ status }) => status === 'closed').length,
    };
    const dependents = this.list().flatMap((from) =>
      listEdges(from).flatMap(({ id, type }) => (id === task.id ? [this.#resolve(from.id, type)] : [])),
    );
    const { metadata, dependencies, ...plain } = plainTask(task);
    return {
      ...plain,
      metadata: task.type === 'epic' ? { ...metadata, ...counts } : metadata,
      dependencies: dependencies.map(({ id, type }) => this.#resolve(id, type)),
      dependents,
      subtasks: subtasks.map(summary),
      ...counts,
      comments: task.comments,
      open_blockers: this.openBlockers(task),
      ready: this.ready({}).includes(task),
      counters: { attempts: 0, reviews: 0, rejections: 0 },
    };
  }

  #resolve(id: string, type: DependencyType): ResolvedDependency {
    const task = this.tasks.get(id);
    if (task === undefined) return { id, type, resolved: null };
    const { title, status, state, priority, assignee } = task;
    return { id, type, resolved: { title, status, state, priority, assignee } };
  }

  #start(task: ModelTask, assignee: string): void {
    const life = { status: 'in_progress', state: 'in_progress', assignee, close_reason: undefined } as const;
    this.#edit(task, () => this.#live(task, life));
  }

  #live(task: ModelTask, life: ModelLife): void {
    const takeover = task.status === 'in_progress' && life.status === 'in_progress';
    const frozen = takeover && this.#flaw === 'a takeover keeps the fence';
    if (task.assignee !== life.assignee && !frozen) task.fence += 1;
    Object.assign(task, life);
  }

  /** One version more, if anything is different afterwards. */
  #edit(task: ModelTask, work: () => unknown): ModelTask {
    const before = fingerprint(task);
    work();
    if (fingerprint(task) !== before) task.version += 1;
    return task;
  }

  #checkNumbers(task: ModelTask, asked: { version?: number | undefined; fence?: number | undefined }): void {
    if (asked.version !== undefined && asked.version !== task.version) throw refusal('version_conflict');
    if (asked.fence !== undefined && asked.fence !== task.fence) throw refusal('fence_conflict');
  }

  /** Whether `id`, or what it waits for, waits for `goal`. */
  #waitsFor(id: string, goal: string): boolean {
    if (this.#flaw === 'cycles are allowed') return false;
    if (id === goal) return true;
    const task = this.tasks.get(id);
    return (
      task !== undefined &&
      listEdges(task).some((edge) => edge.type === 'blocks' && this.#waitsFor(edge.id, goal))
    );
  }

  #isInside(id: string, goal: string): boolean {
    for (let at: string | null = id; at !== null; at = this.tasks.get(at)?.parent_id ?? null) {
      if (at === goal) return true;
    }
    return false;
  }
}

function refusal(code: ErrorCode): ForgeError {
  return new ForgeError(code, 'the model refuses');
}
