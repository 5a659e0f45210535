import { checkHistory, type Effect, type Model, type Verdict } from './linear-check.ts';
import { leaseTime, type Operation, type Request, type TaskSetup } from './linear-history.ts';
import {
  findExpired,
  isReady,
  NEW_TASK,
  stepTask,
  sweep,
  take,
  type TaskState,
  type Look,
} from './linear-task-model.ts';

/**
 * Every task by itself, which is quick to look at and finds nearly everything; then all of them with the watch over the
 * leases, which they share.
 */
export function checkClaims(
  operations: readonly Operation[],
  setups: readonly TaskSetup[],
  limit?: number,
): Verdict {
  let looked = 0;
  const ends = operations.some(mayLoseEnds) ? 'lost' : 'known';
  for (const setup of setups) {
    const own = operations.filter(({ request }) => concerns(request, setup.id));
    const verdict = checkHistory(own, taskModel(setup, setups, ends), limit);
    looked += verdict.looked;
    if (verdict.violation !== undefined) return { violation: `${setup.id}: ${verdict.violation}`, looked };
  }
  const { violation, looked: more } = checkHistory(operations, storeModel(setups), limit);
  return { violation: violation && `All tasks: ${violation}`, looked: looked + more };
}

/**
 * A lease that a killed process left in the replica alone: nobody knows when it ends, and all leases are begun anew by
 * whoever is next, also those of other tasks.
 */
function mayLoseEnds({ request, answer }: Operation): boolean {
  return answer === undefined && 'lease_ms' in request && request.lease_ms !== undefined;
}

/**
 * One task, as if it were alone. Whether its holder may be judged depends on what happened to others, so here both are
 * possible where a lease is over; and where others may have lost leases, every lease may be over.
 */
export function taskModel(
  setup: TaskSetup,
  setups: readonly TaskSetup[],
  ends: 'known' | 'lost' = 'known',
): Model<TaskState> {
  const ranks = new Map(setups.map(({ id, rank }) => [id, rank]));
  const keyOf = keepKeys(taskKey);
  return {
    initial: NEW_TASK,
    key: keyOf,
    step(task, operation) {
      const { request } = operation;
      if (request.op === 'grace') return [];
      const starts = ends === 'known' ? [task] : guessEnd(task, leaseTime(request));
      const effects = starts
        .flatMap((start) =>
          request.op === 'next'
            ? stepNext(setup, start, { request, picked: pickedBy(operation), ranks })
            : [true, false].map((judged) => stepTask(setup, start, request, () => judged)),
        )
        .map((effect) => (ends === 'known' ? effect : { ...effect, state: forgetEnd(effect.state) }));
      return [...distinct(effects, keyOf), ...outrun(task, operation), ...torn(task, effects, operation)];
    },
  };
}

/** The task with its lease running, and with its lease over. */
function guessEnd(task: TaskState, at: number): TaskState[] {
  const { lease } = task;
  if (lease === null) return [task];
  return [at + lease.ttl_ms, at].map((expires_at) => ({ ...task, lease: { ...lease, expires_at } }));
}

function forgetEnd(task: TaskState): TaskState {
  return task.lease === null ? task : { ...task, lease: { ...task.lease, expires_at: 0 } };
}

interface Watch {
  readonly seen: number;
  readonly since: number;
  /** When a rival found a gap, as long as no holder was heard of after it. */
  readonly asked: number | undefined;
  readonly lost?: boolean;
}

/** All tasks, and when leases were looked after. */
export interface StoreState {
  readonly tasks: ReadonlyMap<string, TaskState>;
  readonly watch: Watch;
}

export function storeModel(setups: readonly TaskSetup[]): Model<StoreState> {
  const keyOf = keepKeys(taskKey);
  const initial = new Map(setups.map(({ id }) => [id, NEW_TASK]));
  const byRank = setups.toSorted((a, b) => a.rank - b.rank);
  const setupOf = new Map(setups.map((setup) => [setup.id, setup]));
  return {
    initial: { tasks: initial, watch: { seen: 0, since: 0, asked: undefined } },
    key: keepKeys(
      ({ tasks, watch }) =>
        `${[...tasks.values()].map(keyOf).join(' ')} ${watch.seen} ${watch.since} ${watch.asked} ${watch.lost === true}`,
    ),
    step: (known, operation) =>
      listStarts(known, operation.request).flatMap((store) => stepStore(store, operation)),
  };
  function stepStore(store: StoreState, operation: Operation): Effect<StoreState>[] {
    const { request } = operation;
    if (request.op === 'grace') return [stepGrace(store, leaseTime(request))];
    let { watch } = store;
    const look: Look = (at, ttl, by) => {
      watch = lookAfter(watch, { at, by }, ttl);
      return watch.seen - watch.since >= ttl;
    };
    if (request.op === 'next') {
      const effect = stepStoreNext(store, request, { byRank, look });
      const after = { ...effect, state: { ...effect.state, watch } };
      return operation.answer === undefined ? [after, ...cutShort(store, after)] : [after];
    }
    const setup = setupOf.get(request.task);
    const task = store.tasks.get(request.task);
    if (setup === undefined || task === undefined) return [];
    const { state, answer } = stepTask(setup, task, request, look);
    const tasks = state === task ? store.tasks : new Map(store.tasks).set(setup.id, state);
    const same = state === task && watch === store.watch;
    const after = { state: same ? store : { tasks, watch }, answer };
    if (operation.answer === undefined) return [after, ...cutShort(store, after)];
    return [after, ...outrun(store, operation)];
  }
}

/** Where times were lost, whoever is next to look after leases may begin all of them anew. */
function listStarts(store: StoreState, request: Request): StoreState[] {
  if (store.watch.lost !== true) return [store];
  const at = leaseTime(request);
  const tasks = [...store.tasks].map(([id, task]) => {
    const lease = task.lease === null ? null : { ...task.lease, expires_at: at + task.lease.ttl_ms };
    return [id, { ...task, lease }] as const;
  });
  return [{ tasks: new Map(tasks), watch: { seen: at, since: at, asked: at } }, store];
}

function concerns(request: Request, task: string): boolean {
  return request.op === 'next' || (request.op !== 'grace' && request.task === task);
}

/** Undefined where the answer is unknown, null where nothing was ready. */
function pickedBy({ answer }: Operation): string | null | undefined {
  return answer === undefined ? undefined : (answer.facts.task ?? null);
}

function stepNext(
  setup: TaskSetup,
  task: TaskState,
  next: {
    readonly request: Extract<Request, { op: 'next' }>;
    readonly picked: string | null | undefined;
    readonly ranks: ReadonlyMap<string, number>;
  },
): Effect<TaskState>[] {
  const { request, picked, ranks } = next;
  const starts = findExpired(task, leaseTime(request)) === undefined ? [task] : [task, sweep(task)];
  return starts.flatMap((start): Effect<TaskState>[] => {
    const ready = isReady(setup, start, request.actor);
    const taken = ready ? [take(start, request, () => true)] : [];
    if (picked === setup.id) return taken;
    const other = picked === null ? Infinity : (ranks.get(picked ?? '') ?? 0);
    const answer = { code: picked === null ? 'nothing_ready' : 'ok', facts: {} };
    const passed = ready && picked !== undefined && setup.rank < other ? [] : [{ state: start, answer }];
    return picked === undefined ? [...taken, ...passed] : passed;
  });
}

function stepStoreNext(
  { tasks, watch }: StoreState,
  request: Extract<Request, { op: 'next' }>,
  queue: {
    readonly byRank: readonly TaskSetup[];
    readonly look: Look;
  },
): Effect<StoreState> {
  const after = new Map(tasks);
  const at = leaseTime(request);
  const expired = [...tasks].flatMap(([id, task]) => {
    const lease = findExpired(task, at);
    return lease === undefined ? [] : [{ id, task, lease }];
  });
  for (const { id, task, lease } of expired.toSorted((a, b) => a.lease.expires_at - b.lease.expires_at))
    if (queue.look(at, lease.ttl_ms, 'rival')) after.set(id, sweep(task));
  for (const setup of queue.byRank) {
    const task = after.get(setup.id);
    if (task === undefined || !isReady(setup, task, request.actor)) continue;
    const { state, answer } = take(task, request, queue.look);
    return {
      state: { tasks: after.set(setup.id, state), watch },
      answer: { ...answer, facts: { ...answer.facts, task: setup.id } },
    };
  }
  return { state: { tasks: after, watch }, answer: { code: 'nothing_ready', facts: {} } };
}

function stepGrace(store: StoreState, at: number): Effect<StoreState> {
  const hasLeases = [...store.tasks.values()].some(({ lease }) => lease !== null);
  const watch = hasLeases ? { seen: at, since: at, asked: at } : store.watch;
  return { state: { ...store, watch }, answer: { code: 'ok', facts: {} } };
}

/** After a gap in which nobody looked, or a clock that jumped, all holders get one lease time to say they are there. */
function lookAfter(
  watch: Watch,
  { at: now, by }: { readonly at: number; readonly by: 'holder' | 'rival' },
  ttl: number,
): Watch {
  // Whoever waited a little for the others has not seen the clock go back.
  const isLate = now < watch.seen && watch.seen - now <= ttl;
  const at = isLate ? watch.seen : now;
  const isGap = at < watch.seen || at > watch.seen + ttl;
  const { asked } = watch;
  const hadTime = by === 'rival' && asked !== undefined && at >= asked + ttl && at < asked + 11 * ttl;
  const begins = isGap && !hadTime;
  return {
    ...watch,
    seen: at,
    since: begins ? at : watch.since,
    asked: by === 'holder' ? undefined : begins ? at : asked,
  };
}

const MOVES: readonly Request['op'][] = ['transition', 'claim', 'close', 'reopen', 'release'];

/** A change that names no version is tried again while others move the task, but not for ever. */
function outrun<S>(state: S, { request }: Operation): Effect<S>[] {
  const mayLose = MOVES.includes(request.op) && !('version' in request && request.version !== undefined);
  return mayLose ? [{ state, answer: { code: 'version_conflict', facts: {} } }] : [];
}

/**
 * A process that dies between the local replica and the database leaves the task as it wrote it, but not what only the
 * database holds: the lease.
 */
function torn(
  before: TaskState,
  effects: readonly Effect<TaskState>[],
  operation: Operation,
): Effect<TaskState>[] {
  if (operation.answer !== undefined) return [];
  return effects.map(({ state, answer }) => ({ state: { ...state, lease: before.lease }, answer }));
}

/** What a write that was cut short may leave: no lease, or one whose end nobody knows any more. */
function cutShort(before: StoreState, after: Effect<StoreState>): Effect<StoreState>[] {
  const restored = { ...after.state, watch: { ...before.watch, lost: true } };
  return [withoutLeases(before, after), { ...after, state: restored }];
}

function withoutLeases(before: StoreState, { state, answer }: Effect<StoreState>): Effect<StoreState> {
  const tasks = new Map(
    [...state.tasks].map(([id, task]) => [id, { ...task, lease: before.tasks.get(id)?.lease ?? null }]),
  );
  return { state: { tasks, watch: before.watch }, answer };
}

function distinct(
  effects: readonly Effect<TaskState>[],
  keyOf: (task: TaskState) => string,
): Effect<TaskState>[] {
  const known = new Map(
    effects.map((effect) => [`${effect.answer.code} ${keyOf(effect.state)}`, effect] as const),
  );
  return [...known.values()];
}

/** Keys of states, each made once: the search asks for them again and again. */
function keepKeys<S extends object>(makeKey: (state: S) => string): (state: S) => string {
  const keys = new WeakMap<S, string>();
  return (state) => {
    const known = keys.get(state);
    if (known !== undefined) return known;
    const key = makeKey(state);
    keys.set(state, key);
    return key;
  };
}

function taskKey({ state, owner, fence, version, lease }: TaskState): string {
  const until = lease === null ? '' : `${lease.fence}:${lease.ttl_ms}:${lease.expires_at}`;
  return `${state},${owner ?? ''},${fence},${version},${until}`;
}
