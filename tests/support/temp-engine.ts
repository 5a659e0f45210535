import type { Task } from '#contract/task.ts';
import type { Workflow } from '#contract/workflow.ts';
import type { Actor } from '#domain/actor.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { resolveWorkflow, type ResolvedWorkflow } from '#domain/workflow.ts';
import type { Engine } from '#engine/engine.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { EventStore } from '#store/event-store.ts';
import type { TaskStore } from '#store/store.ts';
import type { Replication } from '#store/replication.ts';
import { memoryStore } from './memory-store.ts';
import { tempStore, type TempStore, type TestClock } from './temp-store.ts';

export const ANN: Actor = { kind: 'user', name: 'ann', named: true };
export const BOT: Actor = { kind: 'agent', name: 'bot', named: true };
export const REVIEWER: Actor = { kind: 'agent', name: 'critic', named: true };

/** A store, and the time it is there. */
interface EngineStore extends AsyncDisposable {
  readonly store: TaskStore & AttemptStore & EventStore & Replication;
  readonly clock: TestClock;
}

export interface TempEngine extends AsyncDisposable {
  readonly temp: EngineStore;
  readonly workflow: ResolvedWorkflow;
  readonly paused: Set<string>;
  readonly managed: Set<string>;
  /** The engine as this caller has it, at the time it is now. */
  as(actor: Actor): Engine;
  create(title: string, more?: { depends_on?: readonly string[]; state?: string }): Promise<Task>;
  states(id: string): Promise<string[]>;
}

export interface SqliteEngine extends TempEngine {
  readonly temp: TempStore;
  /** The database made anew from its replica, under the same workflow. */
  rebuild(): Promise<void>;
}

/** A store in memory under a workflow: the engine knows no other one. */
export async function tempEngine(definition: Workflow = DEFAULT_WORKFLOW): Promise<TempEngine> {
  const temp = await memoryStore();
  await useWorkflow(temp, definition);
  return toEngine(temp, definition);
}

/** For what also needs the files of a database, or other processes on it. */
export async function sqliteEngine(definition: Workflow = DEFAULT_WORKFLOW): Promise<SqliteEngine> {
  const temp = await tempStore();
  await useWorkflow(temp, definition);
  return {
    ...toEngine(temp, definition),
    temp,
    async rebuild() {
      await temp.rebuild();
      await useWorkflow(temp, definition);
    },
  };
}

async function useWorkflow({ store, clock }: EngineStore, definition: Workflow): Promise<void> {
  if (definition === DEFAULT_WORKFLOW) return;
  await store.setWorkflow({ definition, digest: 'a test' }, { actor: ANN, now: clock.now() });
}

function toEngine(temp: EngineStore, definition: Workflow): TempEngine {
  const workflow = resolveWorkflow(definition);
  const paused = new Set<string>();
  const managed = new Set<string>();
  return {
    temp,
    workflow,
    paused,
    managed,
    as: (actor) => ({
      store: temp.store,
      workflow,
      by: { actor, now: temp.clock.now() },
      clock: temp.clock,
      agents: {
        isPaused: async (name) => paused.has(name),
        isManaged: async (name) => managed.has(name),
        readManaged: async () => new Set(managed),
        readAll: async () =>
          new Map([...managed, ...paused].map((name) => [name, { paused: paused.has(name) }])),
      },
    }),
    create: (title, { depends_on = [], state = workflow.initial } = {}) =>
      temp.store.createTask(
        {
          id_prefix: 'fg',
          title,
          description: '',
          type: 'task',
          priority: 2,
          state,
          parent_id: null,
          assignee: null,
          labels: [],
          github_issue: null,
          depends_on,
          metadata: new Map(),
        },
        { actor: ANN, now: temp.clock.now() },
      ),
    async states(id) {
      const moves = await temp.store.listTransitions({ id, limit: undefined });
      return moves.map(({ to_state, triggered_by }) => `${to_state} by ${triggered_by}`);
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

/** The same graph under other names: nothing may hang on what a state or a role is called. */
export function renameWorkflow(definition: Workflow, rename: (name: string) => string): Workflow {
  const hooks = (list: Workflow['states'][number]['on_enter']) =>
    list?.map((hook) => ({ ...hook, ...(hook.to !== undefined && { to: rename(hook.to) }) }));
  return {
    roles: definition.roles?.map(rename),
    states: definition.states.map((state) => ({
      ...state,
      name: rename(state.name),
      ...(state.role !== undefined && { role: rename(state.role) }),
      next: state.next?.map(rename),
      before_exit: hooks(state.before_exit),
      on_exit: hooks(state.on_exit),
      on_enter: hooks(state.on_enter),
      after_enter: hooks(state.after_enter),
    })),
    cancellation_state: rename(definition.cancellation_state ?? 'cancelled'),
    blocked_state: rename(definition.blocked_state ?? 'blocked'),
    status_states: {
      in_progress: rename(definition.status_states?.in_progress ?? 'in_progress'),
      closed: rename(definition.status_states?.closed ?? 'done'),
    },
  };
}

/** Without what this version cannot do, so that every edge can be walked. */
export function withoutActions(definition: Workflow, ...actions: readonly string[]): Workflow {
  const keep = (list: Workflow['states'][number]['on_enter']) =>
    list?.filter(({ action }) => !actions.includes(action));
  return {
    ...definition,
    states: definition.states.map((state) => ({
      ...state,
      before_exit: keep(state.before_exit),
      on_exit: keep(state.on_exit),
      on_enter: keep(state.on_enter),
      after_enter: keep(state.after_enter),
    })),
  };
}
