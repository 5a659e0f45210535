import fc from 'fast-check';
import { RUN_STATES, type ConflictFile, type Verdict } from '#contract/attempt.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import { listNextStates } from '#domain/run-states.ts';
import { toIso } from '#kernel/clock.ts';
import {
  act,
  anyAct,
  create,
  pick,
  seen,
  seldom,
  some,
  type Act,
  type Actors,
  type Known,
} from './lockstep-acts-behaviour.ts';
import { toMark } from './open-work-behaviour.ts';

/** Every call of the port that is about attempts and what belongs to them. */

/** Most often the newest, or the one before it; sometimes only the beginning of an id, or none. */
const ref = fc.constantFrom<(number | string)[]>(...Array<number>(14).fill(0), 1, 1, 1, 2, '', 'x', '-');
/** Most often the same task. */
const few = fc.constantFrom(0, 0, 0, 1);
const mark = fc.nat(2).map(toMark);
/** Of two machines. */
const daemon = fc
  .nat(2)
  .map((at) => ({ ...toMark(at), host: at === 2 ? 'there' : 'here', daemon_id: `d-${at}` }));
const usage = fc.constantFrom({ ...NO_USAGE, input_tokens: 3 }, { ...NO_USAGE, cost_usd: 0.5 });
const moment = fc.constantFrom(null, '2026-02-10T10:00:00.000Z');
const passed = { command: 'make', exit_code: 0, duration_ms: 1, output: 'ok', outcome: 'passed' } as const;
const verdict: Verdict = {
  verdict: 'reject',
  summary: 'no',
  findings: [{ severity: 'major', message: 'why' }],
};
const conflicts: ConflictFile[] = [{ path: 'a', kind: 'content' }];

/** Ids of these are the caller's, and never given twice. */
async function withNewId<T>(side: Known, letter: string, make: (id: string) => Promise<T>): Promise<T> {
  const next = countGiven(side, letter);
  const made = await make(`${letter}-${next}`);
  given.set(side, new Map(given.get(side)).set(letter, next + 1));
  return made;
}

/** What such a reference means here: as many before the newest. */
function idOf(side: Known, letter: string, one: number | string): string {
  if (typeof one === 'number') return `${letter}-${countGiven(side, letter) - 1 - one}`;
  return one === '-' ? `${letter}-` : one;
}

function countGiven(side: Known, letter: string): number {
  return given.get(side)?.get(letter) ?? 0;
}

const given = new WeakMap<Known, ReadonlyMap<string, number>>();

const begin = act('begin an attempt', 3, {
  asked: fc.record({
    at: few,
    port: fc.option(fc.nat(1)),
    again: seldom,
    holder: some(daemon),
    fence: seen,
  }),
  run(side, by, { at, again, ...more }) {
    const commits = { target: 'main', base_commit: 'a'.repeat(40), agent: 'bot' };
    const task_id = pick(side, at);
    return withNewId(side, 'a', (id) => {
      const name = again ? 'try-a-0' : `try-${id}`;
      return side.store.startAttempt({ id, name, path: `/${id}`, ...commits, ...more, task_id }, by);
    });
  },
});

const run = act('begin a run', 6, {
  asked: fc.record({
    attempt: ref,
    role: fc.constantFrom('coder', 'planner'),
    fence: fc.option(fc.nat(2), { freq: 1 }),
    in_state: fc.option(fc.constantFrom('todo', 'in_progress'), { freq: 1 }),
    state: fc.constantFrom('draft', 'scheduled', 'running', 'running', 'running', 'failed'),
    session_id: fc.option(fc.constant('s-1')),
    watcher: mark,
  }),
  run: (side, by, { attempt, ...wish }) =>
    withNewId(side, 'r', (id) => {
      const attempt_id = idOf(side, 'a', attempt);
      return side.store.createRun({ id, attempt_id, agent: 'bot', executor: 'shell', ...wish }, by);
    }),
});

const anyWork: fc.Arbitrary<Act> = fc.oneof(
  begin,
  run,
  act('change an attempt', 4, {
    asked: fc.record({
      at: ref,
      state: some(fc.constantFrom('active', 'merged', 'archived')),
      merge_commit: some(fc.constant('c'.repeat(40))),
      head_commit: some(fc.constant('b'.repeat(40))),
      port: some(fc.option(fc.nat(1))),
      pick: some(fc.constantFrom('person', 'first_green')),
      strayed: some(fc.option(fc.constant('on main'))),
      cleanup_at: some(moment),
      removed_at: some(moment),
    }),
    run: (side, by, { at, ...change }) =>
      side.store.changeAttempt({ id: idOf(side, 'a', at), ...change }, by),
  }),
  act('find attempts', 2, {
    asked: fc.record({
      at: ref,
      host: some(fc.constantFrom('here', 'there')),
      there: some(fc.boolean()),
      state: some(fc.constantFrom('active', 'merged')),
    }),
    run: async (side, _by, { at, ...query }) => [
      await side.store.listAttempts(query),
      await side.store.getAttempt(`try-${idOf(side, 'a', 0)}`),
      await side.store.getAttempt(idOf(side, 'a', at)),
    ],
  }),

  act('move a run', 6, {
    asked: fc.record({
      at: ref,
      from: some(fc.constantFrom(...RUN_STATES)),
      to: fc.constantFrom(...RUN_STATES),
      outcome: some(fc.constantFrom('completed', 'crashed', null)),
      message: some(fc.option(fc.constant('so'))),
      retry_after: some(moment),
      usage: some(usage),
    }),
    run: (side, by, { at, ...move }) => side.store.moveRun({ id: idOf(side, 'r', at), ...move }, by),
  }),
  act('lead a run on', 5, {
    asked: fc.record({ at: ref, next: fc.nat(3) }),
    async run(side, by, { at, next }) {
      const { id, state } = await side.store.getRun(idOf(side, 'r', at));
      const all = listNextStates(state);
      return side.store.moveRun({ id, from: state, to: all[next % all.length] ?? 'draft' }, by);
    },
  }),
  act('note of a run', 3, {
    asked: fc.record({
      at: ref,
      process: some(mark),
      watcher: some(mark),
      session_id: some(fc.constant('s-2')),
      beat_at: some(fc.constant(7)),
      usage: some(usage),
    }),
    run: (side, _by, { at, ...note }) => side.store.noteRun({ id: idOf(side, 'r', at), ...note }),
  }),
  act('stop a run', 2, {
    asked: ref,
    run: (side, by, at) => side.store.askStop({ id: idOf(side, 'r', at) }, by),
  }),
  act('find runs', 2, {
    asked: fc.record({ at: some(ref), open: some(fc.boolean()), limit: some(fc.nat(2)) }),
    run: (side, _by, { at, ...query }) =>
      side.store.listRuns({ ...query, attempt_id: at === undefined ? undefined : idOf(side, 'a', at) }),
  }),

  act('begin a review', 6, {
    asked: fc.record({ at: few, attempt: fc.option(ref, { freq: 8 }), watcher: mark }),
    run: (side, by, { at, attempt, watcher }) =>
      withNewId(side, 'v', (id) => {
        const attempt_id = attempt === null ? null : idOf(side, 'a', attempt);
        const review = { id, task_id: pick(side, at), attempt_id, head_commit: null, watcher };
        return side.store.startReview(review, by);
      }),
  }),
  act('note a check', 3, {
    asked: ref,
    run: (side, by, at) => side.store.addStepResult({ id: idOf(side, 'v', at), result: passed }, by),
  }),
  act('ask for a verdict', 4, {
    asked: ref,
    run: (side, by, at) => side.store.askVerdict({ id: idOf(side, 'v', at) }, by),
  }),
  act('end a review', 4, {
    asked: fc.record({
      at: ref,
      status: fc.constantFrom('passed', 'failed', 'void'),
      fence: seen,
      verdict: some(fc.option(fc.constant(verdict))),
      verdict_by: some(fc.constant('user:ann')),
      judge: some(ref),
      forced: some(fc.boolean()),
    }),
    run(side, by, { at, judge, ...end }) {
      const run_id = judge === undefined ? undefined : idOf(side, 'r', judge);
      return side.store.finishReview({ id: idOf(side, 'v', at), run_id, ...end }, by);
    },
  }),
  act('clear reviews', 2, {
    asked: few,
    run: (side, by, at) => side.store.clearReviews({ task_id: pick(side, at) }, by),
  }),

  act('queue a merge', 5, {
    asked: fc.record({
      attempt: ref,
      target: fc.constantFrom('main', 'main', 'next'),
      watcher: mark,
    }),
    run: (side, by, { attempt, ...wish }) =>
      withNewId(side, 'm', (id) => {
        const merge = { id, attempt_id: idOf(side, 'a', attempt), strategy: 'squash' } as const;
        return side.store.queueMerge({ ...merge, head_commit: 'b'.repeat(40), ...wish }, by);
      }),
  }),
  act('take a merge', 6, {
    asked: fc.record({ at: ref, watcher: mark }),
    run: (side, by, { at, watcher }) => side.store.takeMerge({ id: idOf(side, 'm', at), watcher }, by),
  }),
  // What is under way for good would let every later write of the task wait.
  act('land a merge', 3, {
    asked: fc.record({ at: ref, in_state: fc.constantFrom('todo', 'in_progress', 'merging') }),
    async run(side, by, { at, in_state }) {
      const id = idOf(side, 'm', at);
      const loss = await side.store.takeLanding({ id, in_state, candidate: 'd'.repeat(40) }, by);
      await side.store.clearLanding({ id }, by);
      return loss;
    },
  }),
  act('end a merge', 4, {
    asked: fc.record({
      at: ref,
      state: fc.constantFrom('landed', 'conflict', 'ci_failed', 'refused', 'postponed', 'dropped'),
      candidate: some(fc.constant('e'.repeat(40))),
      conflicts: some(fc.constant(conflicts)),
      message: some(fc.constant('so')),
    }),
    run: (side, by, { at, ...end }) => side.store.finishMerge({ id: idOf(side, 'm', at), ...end }, by),
  }),

  act('ask for approval', 6, {
    asked: fc.record({
      at: ref,
      input: fc.constantFrom<unknown[]>(null, { b: 1, a: [2] }, 'text'),
      command: some(fc.constant('make')),
      paths: some(fc.constant(['b', 'a'])),
    }),
    run: (side, by, { at, ...approval }) =>
      withNewId(side, 'p', (id) => {
        const run_id = idOf(side, 'r', at);
        return side.store.askApproval({ id, run_id, tool: 'Bash', ...approval }, by);
      }),
  }),
  act('answer', 4, {
    asked: fc.record({
      at: ref,
      state: fc.constantFrom('allowed', 'denied', 'expired'),
      reason: some(fc.constant('so')),
      always: some(fc.constant({ kind: 'prefix', text: 'make' } as const)),
    }),
    run: (side, by, { at, ...answer }) =>
      side.store.answerApproval({ id: idOf(side, 'p', at), ...answer }, by),
  }),
  act('forget approvals', 2, {
    asked: fc.record({ at: few, one: some(ref) }),
    run(side, by, { at, one }) {
      const id = one === undefined ? undefined : idOf(side, 'p', one);
      return side.store.forgetApprovals({ task_id: pick(side, at), id }, by);
    },
  }),
  act('say something', 3, {
    asked: fc.record({ at: ref, body: fc.constantFrom('One', 'Two\nlines') }),
    run: (side, by, { at, body }) => side.store.addMessage({ attempt_id: idOf(side, 'a', at), body }, by),
  }),
  act('take messages', 2, {
    asked: fc.record({ at: ref, one: fc.boolean() }),
    async run(side, by, { at, one }) {
      const query = { attempt_id: idOf(side, 'a', at), now: by.now };
      if (!one) return side.store.takeMessages(query);
      const [first] = await side.store.listMessages(query);
      await side.store.noteDelivered({ seq: first?.seq ?? 9, now: by.now });
      return first;
    },
  }),

  act('watch', 3, {
    asked: fc.record({ at: few, watcher: mark, from: some(fc.option(mark)) }),
    run: (side, by, { at, ...watch }) => side.store.takeWatch({ task_id: pick(side, at), ...watch }, by.now),
  }),
  act('watch no more', 2, {
    asked: fc.record({ at: few, watcher: mark, all: fc.boolean() }),
    run(side, _by, { at, watcher, all }) {
      const task_id = pick(side, at);
      return all ? side.store.forgetWatch(task_id) : side.store.noteUnwatched({ task_id, watcher });
    },
  }),
  act('say that a daemon is there', 2, {
    asked: fc.record({ mark: daemon, ttl_ms: fc.constantFrom(1, 60_000), wait: fc.nat(2) }),
    run: (side, by, { wait, ...beat }) => side.store.beatDaemon(beat, by.now + wait * 30_000),
  }),
  act('end a daemon', 1, { asked: daemon, run: (side, by, mark) => side.store.endDaemon(mark, by.now) }),
  act('judge a daemon', 2, { asked: daemon, run: (side, _by, mark) => side.store.isDaemonOver(mark) }),
  act('keep a step', 2, {
    asked: fc.record({ tree: fc.constantFrom('t', 'u'), later: fc.constantFrom(0, 0, 700_000_000) }),
    async run({ store }, by, { tree, later }) {
      const key = { tree, command: 'make' };
      const known = await store.findStep({ ...key, after: toIso(by.now - 5_000) });
      await store.keepStep({ ...key, result: passed, review_id: null, now: by.now + later });
      return [known, await store.findStep(key)];
    },
  }),
);

/** Some tasks and attempts, then anything, also of tasks. */
export const someWork: fc.Arbitrary<Act[]> = fc
  .tuple(
    fc.array(create.arbitrary, { minLength: 1, maxLength: 2 }),
    fc.array(begin.arbitrary, { minLength: 1, maxLength: 3 }),
    fc.array(run.arbitrary, { minLength: 1, maxLength: 2 }),
    fc.array(fc.oneof({ weight: 9, arbitrary: anyWork }, { weight: 1, arbitrary: anyAct }), {
      minLength: 20,
      maxLength: 60,
      size: 'max',
    }),
  )
  .map((parts) => parts.flat());

/** Every question of the port about work. */
export async function readWork(store: Actors): Promise<unknown> {
  const attempts = await store.listAttempts({});
  const tasks = [...new Set(attempts.map(({ task_id }) => task_id))];
  const runs = await store.listRuns({});
  return {
    attempts,
    runs,
    open: [await store.listOpenRuns(), await store.listOpenReviews(), await store.listOpenMerges()],
    watched: await store.listWatchedTasks(),
    daemons: await store.listDaemons(),
    here: await store.listAttempts({ host: 'here' }),
    approvals: await store.listApprovals({}),
    pending: await store.listApprovals({ pending: true }),
    wishes: await Promise.all(runs.map(({ id }) => store.readWishes(id))),
    messages: await Promise.all(attempts.map(({ id }) => store.listMessages({ attempt_id: id }))),
    ofTasks: await Promise.all(
      tasks.map(async (task_id) => [
        await store.listReviews({ task_id }),
        await store.listMerges({ task_id }),
        await store.listLostRuns({ task_id }),
        await store.listApprovals({ task_id, always: true }),
        await store.isWorkedOn(task_id),
      ]),
    ),
  };
}
