import { describe, expect, it } from 'vitest';
import {
  FAILURE_POLICIES,
  HOOK_AUDIENCES,
  HOOK_PHASES,
  STATE_KINDS,
  StateName,
  Workflow,
  WorkflowHook,
  WorkflowState,
} from '#contract/workflow.ts';
import { LIMITS } from '#kernel/limits.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { validateWorkflow } from './validate-workflow.ts';
import { AUDIENCES, KINDS, PHASES, POLICIES } from './validate-workflow-shape.ts';
import { ACTION_PHASES, resolveWorkflow } from './workflow.ts';

type Json = Record<string, unknown>;

const TODO = { name: 'todo', kind: 'initial', next: ['doing'] };
const DOING = { name: 'doing', kind: 'active', next: ['done'] };
const DONE = { name: 'done', kind: 'terminal' };
const CANCELLED = { name: 'cancelled', kind: 'terminal' };
const BLOCKED = { name: 'blocked', kind: 'custom', next: ['todo'] };
const SMALL = { states: [TODO, DOING, DONE, CANCELLED] };

/** The small workflow with one state changed, added to it or put in its place. */
function withDoing(change: Json, ...more: Json[]): Json {
  return { states: [TODO, { ...DOING, ...change }, DONE, CANCELLED, ...more] };
}

function withTop(change: Json): Json {
  return { ...SMALL, ...change };
}

/** `a` → `b` → … by cascades, beginning behind `doing`; the last one leads to `done` by an edge. */
function chain(names: readonly string[], last: readonly Json[] = []): Json[] {
  return names.map((name, at) => {
    const to = names[at + 1];
    if (to === undefined) return { name, kind: 'custom', next: ['done'], after_enter: last };
    return { name, kind: 'custom', next: [to, 'done'], after_enter: [{ action: 'cascade', to }] };
  });
}

function faultsOf(json: unknown): string[] {
  const { workflow, faults } = validateWorkflow(json);
  expect(workflow === undefined).toBe(faults.length > 0);
  return faults.map(({ path, message }) => `${path}: ${message}`);
}

describe('a workflow that is fine', () => {
  it.each<[string, Json]>([
    ['small', SMALL],
    ['the default', structuredClone(DEFAULT_WORKFLOW) as Json],
    ['[S171] an active state with a role', { roles: ['coder'], ...withDoing({ role: 'coder' }) }],
    ['an active state that names assignee', withDoing({ role: 'assignee' })],
    [
      'a custom state',
      withDoing({ next: ['done', 'waiting'] }, { name: 'waiting', kind: 'custom', next: ['doing'] }),
    ],
    [
      '[S172] a gate with a budget',
      withDoing(
        { next: ['check', 'done'] },
        { name: 'check', kind: 'gate', next: ['done'], gate_config: { max_rejections: 0 } },
        BLOCKED,
      ),
    ],
    [
      'a gate without a budget',
      withDoing({ next: ['check'] }, { name: 'check', kind: 'gate', next: ['done'], gate_config: {} }),
    ],
    [
      'several parked states',
      {
        states: [
          ...SMALL.states,
          { name: 'later', kind: 'backlog', next: ['todo'] },
          { name: 'never', kind: 'backlog', next: ['todo'] },
        ],
      },
    ],
    ['a blocked state that is reached by blocking only', { states: [...SMALL.states, BLOCKED] }],
    [
      'a terminal state that is reached by closing only',
      { states: [TODO, { ...DOING, next: ['todo'] }, DONE, CANCELLED] },
    ],
    [
      'one terminal state for both ends',
      {
        states: [TODO, { ...DOING, next: ['over'] }, { name: 'over', kind: 'terminal' }],
        cancellation_state: 'over',
      },
    ],
    [
      'as many cascades as are followed',
      { states: [TODO, { ...DOING, next: ['a'] }, DONE, CANCELLED, ...chain(['a', 'b', 'c', 'd'])] },
    ],
    [
      'names like those of objects',
      {
        states: [
          { ...TODO, next: ['constructor'] },
          { name: 'constructor', kind: 'active', next: ['valueof', 'done'] },
          { name: 'valueof', kind: 'custom', next: ['todo'] },
          DONE,
          CANCELLED,
        ],
      },
    ],
    ['empty lists', withDoing({ on_enter: [], before_exit: [] })],
  ])('%s', (_title, json) => {
    expect(faultsOf(json)).toEqual([]);
    expect(Workflow.parse(json)).toEqual(json);
  });

  it('[S167] {} is the default', () => {
    expect(validateWorkflow({})).toEqual({ workflow: DEFAULT_WORKFLOW, faults: [] });
  });

  it('[S190] without cancellation_state the state "cancelled" is the one', () => {
    expect(faultsOf(SMALL)).toEqual([]);
    expect(resolveWorkflow(Workflow.parse(SMALL)).cancelled).toBe('cancelled');
  });
});

const NAME_FAULT = 'is no name';
const BROKEN: [title: string, json: unknown, faults: string[]][] = [
  ['a list', [], [': a workflow is a JSON object, and this is a list']],
  ['null', null, [': a workflow is a JSON object, and this is null']],
  ['a text', 'todo', [': a workflow is a JSON object, and this is a text']],
  ['a number', 7, [': a workflow is a JSON object, and this is a number']],
  ['true', true, [': a workflow is a JSON object, and this is true or false']],
  ['no states', { roles: ['coder'] }, ['states: is missing']],
  ['states that are no list', { states: {} }, ['states: must be a list, and is an object']],
  [
    'an empty list of states',
    { states: [] },
    [
      'states: is empty',
      'cancellation_state: is missing, and no state is called "cancelled": a task that is cancelled must end somewhere',
    ],
  ],
  [
    'a state that is no object',
    { states: [...SMALL.states, 'review'] },
    ['states[4]: must be an object, and is a text'],
  ],
  [
    'unknown keys everywhere',
    {
      ...withDoing({ nxt: [], on_enter: [{ action: 'run_ci_steps', when: 1 }] }),
      hooks: [],
      status_states: { open: 'todo' },
    },
    [
      'states[1].on_enter[0].when: unknown key "when"',
      'states[1].nxt: unknown key "nxt"',
      'status_states.open: unknown key "open"',
      'hooks: unknown key "hooks"',
    ],
  ],
  [
    '__proto__ as a key',
    JSON.parse(
      '{"__proto__":{"states":[]},"states":[{"name":"a","kind":"initial","__proto__":{"kind":"terminal"},"next":["b"]},{"name":"b","kind":"active","next":["cancelled"]},{"name":"cancelled","kind":"terminal"}]}',
    ),
    ['states[0].__proto__: unknown key "__proto__"', '__proto__: unknown key "__proto__"'],
  ],
  [
    '__proto__ as a name',
    withDoing({ next: ['__proto__', 'done'] }, { name: '__proto__', kind: 'custom', next: ['done'] }),
    [`states[4].name: "__proto__" ${NAME_FAULT}`],
  ],
  [
    'a name with capitals',
    withDoing({ next: ['done', 'Review'] }, { name: 'Review', kind: 'custom', next: ['done'] }),
    [`states[4].name: "Review" ${NAME_FAULT}`],
  ],
  [
    'an empty name',
    withDoing({ next: ['done', ''] }, { name: '', kind: 'custom', next: ['done'] }),
    [`states[4].name: "" ${NAME_FAULT}`],
  ],
  [
    'a name that is too long',
    withDoing({ next: ['done', 'x'.repeat(61)] }, { name: 'x'.repeat(61), kind: 'custom', next: ['done'] }),
    [`states[4].name: "${'x'.repeat(61)}" ${NAME_FAULT}`],
  ],
  [
    'a state without a name',
    { states: [...SMALL.states, { kind: 'custom', next: ['done'] }] },
    ['states[4].name: is missing'],
  ],
  [
    'a name that is no text',
    { states: [...SMALL.states, { name: 7, kind: 'custom', next: ['done'] }] },
    ['states[4].name: must be a text, and is a number'],
  ],
  [
    'a name twice',
    { states: [...SMALL.states, { ...DOING, kind: 'custom' }] },
    ['states[4].name: "doing" is the name of states[1] too'],
  ],
  [
    'a state without a kind',
    withDoing({ next: ['done', 'x'] }, { name: 'x', next: ['done'] }),
    ['states[4].kind: is missing'],
  ],
  [
    'an unknown kind',
    withDoing({ next: ['done', 'x'] }, { name: 'x', kind: 'paused', next: ['done'] }),
    ['states[4].kind: "paused" is not possible here'],
  ],
  [
    '[S170] no initial state',
    { states: [{ ...TODO, kind: 'custom' }, DOING, DONE, CANCELLED] },
    ['states: no state has the kind "initial"; a workflow has exactly one'],
  ],
  [
    '[S170] two initial states',
    { states: [...SMALL.states, { name: 'start', kind: 'initial', next: ['doing'] }] },
    ['states[4].kind: 2 states have the kind "initial" ("todo", "start"); a workflow has exactly one'],
  ],
  [
    'no active state',
    { states: [{ ...TODO, next: ['done'] }, DONE, CANCELLED] },
    ['states: no state has the kind "active": nothing could be worked on'],
  ],
  [
    'no terminal state',
    { states: [TODO, { ...DOING, next: ['todo'] }] },
    [
      'states: no state has the kind "terminal": nothing could end',
      'cancellation_state: is missing, and no state is called "cancelled": a task that is cancelled must end somewhere',
    ],
  ],
  [
    'a state that nothing leads to',
    { states: [...SMALL.states, { name: 'island', kind: 'custom', next: ['todo'] }] },
    ['states[4]: nothing leads to "island"'],
  ],
  [
    'two states that lead only to each other',
    {
      states: [
        ...SMALL.states,
        { name: 'a', kind: 'custom', next: ['b'] },
        { name: 'b', kind: 'custom', next: ['a'] },
      ],
    },
    ['states[4]: nothing leads to "a"', 'states[5]: nothing leads to "b"'],
  ],
  [
    'a terminal state that nothing leads to',
    { states: [...SMALL.states, { name: 'wontfix', kind: 'terminal' }] },
    ['states[4]: nothing leads to "wontfix"'],
  ],
  [
    'a dead end',
    withDoing({ next: ['stuck', 'done'] }, { name: 'stuck', kind: 'custom' }),
    ['states[4].next: nothing leads on from "stuck", and it is not terminal'],
  ],
  [
    'a dead end that leads to itself',
    withDoing({ next: ['stuck', 'done'] }, { name: 'stuck', kind: 'custom', next: ['stuck'] }),
    [
      'states[4].next: nothing leads on from "stuck", and it is not terminal',
      'states[4].next[0]: an edge from "stuck" to itself',
    ],
  ],
  [
    '[S173] an edge out of a terminal state',
    { states: [TODO, DOING, { ...DONE, next: ['todo'] }, CANCELLED] },
    ['states[2].next: "done" is terminal: no edge leads out of it'],
  ],
  [
    '[S176] an unknown target',
    withDoing({ next: ['done', 'review'] }),
    ['states[1].next[1]: no state is called "review"'],
  ],
  [
    'a target that is no text',
    withDoing({ next: ['done', 1, null] }),
    ['states[1].next[1]: must be a text, and is a number', 'states[1].next[2]: must be a text, and is null'],
  ],
  ['edges that are no list', withDoing({ next: 'done' }), ['states[1].next: must be a list, and is a text']],
  ['a target twice', withDoing({ next: ['done', 'done'] }), ['states[1].next[1]: "done" stands here twice']],
  [
    'an edge to itself',
    withDoing({ next: ['doing', 'done'] }),
    ['states[1].next[0]: an edge from "doing" to itself'],
  ],
  [
    '[S174] a cancellation state that is not terminal',
    withTop({ cancellation_state: 'doing' }),
    [
      'states[3]: nothing leads to "cancelled"',
      'cancellation_state: "doing" has the kind "active", and a cancelled task ends in a terminal state',
    ],
  ],
  [
    '[S174] a state "cancelled" that is not terminal',
    { states: [TODO, DOING, DONE, { name: 'cancelled', kind: 'custom', next: ['todo'] }] },
    ['cancellation_state: "cancelled" has the kind "custom", and a cancelled task ends in a terminal state'],
  ],
  [
    'an unknown cancellation state',
    withTop({ cancellation_state: 'dropped' }),
    ['states[3]: nothing leads to "cancelled"', 'cancellation_state: no state is called "dropped"'],
  ],
  [
    'no cancellation state at all',
    { states: [TODO, DOING, DONE] },
    [
      'cancellation_state: is missing, and no state is called "cancelled": a task that is cancelled must end somewhere',
    ],
  ],
  [
    'a cancellation state that is no text',
    withTop({ cancellation_state: 7 }),
    ['cancellation_state: must be a text, and is a number'],
  ],
  [
    'an unknown blocked state',
    withTop({ blocked_state: 'waiting' }),
    ['blocked_state: no state is called "waiting"'],
  ],
  [
    'a blocked state that is terminal',
    withTop({ blocked_state: 'done' }),
    [
      'blocked_state: "done" has the kind "terminal", and a task that waits for a person is neither new nor at its end',
    ],
  ],
  [
    'a closed state that is not terminal',
    withTop({ status_states: { closed: 'doing' } }),
    ['status_states.closed: "doing" has the kind "active", and a closed task ends in a terminal state'],
  ],
  [
    'an unknown closed state',
    withTop({ status_states: { closed: 'gone' } }),
    ['status_states.closed: no state is called "gone"'],
  ],
  [
    'work in a state that is not active',
    withTop({ status_states: { in_progress: 'todo' } }),
    [
      'status_states.in_progress: "todo" has the kind "initial", and a claimed task is worked on in an active state',
    ],
  ],
  [
    'status_states that is no object',
    withTop({ status_states: [] }),
    ['status_states: must be an object, and is a list'],
  ],
  ['[S176] an unknown role', withDoing({ role: 'coder' }), ['states[1].role: no role is called "coder"']],
  [
    '[S196] assignee on a state that is not active',
    { states: [{ ...TODO, role: 'assignee' }, DOING, DONE, CANCELLED] },
    ['states[0].role: "assignee" is the role of active states only, and "todo" has the kind "initial"'],
  ],
  [
    '[S196] assignee among the roles',
    withTop({ roles: ['coder', 'assignee'] }),
    ['roles: "assignee" is a role without being declared'],
  ],
  ['a role twice', withTop({ roles: ['coder', 'coder'] }), ['roles[1]: "coder" stands here twice']],
  [
    'roles that are no list',
    { ...withDoing({ role: 'coder' }), roles: 'coder' },
    ['roles: must be a list, and is a text'],
  ],
  ['a role with a bad name', withTop({ roles: ['The Boss'] }), [`roles[0]: "The Boss" ${NAME_FAULT}`]],
  [
    'a gate_config on another kind',
    withDoing({ gate_config: { max_rejections: 3 } }),
    ['states[1].gate_config: only a gate has one, and "doing" has the kind "active"'],
  ],
  [
    'a budget without a blocked state',
    withDoing(
      { next: ['check', 'done'] },
      { name: 'check', kind: 'gate', next: ['done'], gate_config: { max_rejections: 3 } },
    ),
    [
      'states[4].gate_config.max_rejections: a task whose budget is spent waits in the blocked state, and there is none',
    ],
  ],
  ...[-1, 1.5, 101, '3', null].map((max): (typeof BROKEN)[number] => [
    `a budget of ${JSON.stringify(max)}`,
    withDoing(
      { next: ['check', 'done'] },
      { name: 'check', kind: 'gate', next: ['done'], gate_config: { max_rejections: max } },
      BLOCKED,
    ),
    [
      `states[4].gate_config.max_rejections: must be a whole number from 0 to 100, and is ${typeof max === 'number' ? max : max === null ? 'null' : 'a text'}`,
    ],
  ]),
  [
    '[S176] an unknown action',
    withDoing({ on_enter: [{ action: 'rm_rf' }] }),
    ['states[1].on_enter[0].action: no action is called "rm_rf"'],
  ],
  [
    'an action that only objects know',
    withDoing({ on_enter: [{ action: 'toString' }] }),
    ['states[1].on_enter[0].action: no action is called "toString"'],
  ],
  [
    'a hook without an action',
    withDoing({ on_exit: [{ audience: 'all' }] }),
    ['states[1].on_exit[0].action: is missing'],
  ],
  [
    'a hook that is no object',
    withDoing({ on_exit: ['run_merge'] }),
    ['states[1].on_exit[0]: must be an object, and is a text'],
  ],
  [
    'hooks that are no list',
    withDoing({ on_exit: { action: 'run_merge' } }),
    ['states[1].on_exit: must be a list, and is an object'],
  ],
  [
    'an unknown audience and policy',
    withDoing({ on_enter: [{ action: 'run_merge', audience: 'robots', on_failure: 'retry' }] }),
    [
      'states[1].on_enter[0].audience: "robots" is not possible here',
      'states[1].on_enter[0].on_failure: "retry" is not possible here',
    ],
  ],
  [
    'a cascade without a target',
    withDoing({ after_enter: [{ action: 'cascade' }] }),
    ['states[1].after_enter[0].to: is missing: cascade leads to a state'],
  ],
  [
    'a cascade to nowhere',
    withDoing({ after_enter: [{ action: 'cascade', to: 'review' }] }),
    ['states[1].after_enter[0].to: no state is called "review"'],
  ],
  [
    'a cascade without an edge',
    withDoing({ after_enter: [{ action: 'cascade', to: 'todo' }] }),
    ['states[1].after_enter[0].to: no edge leads from "doing" to "todo"'],
  ],
  [
    'a target where nothing leads on',
    withDoing({ on_enter: [{ action: 'run_merge', to: 'done' }] }),
    ['states[1].on_enter[0].to: run_merge leads nowhere, so it has no "to"'],
  ],
  [
    'a cascade out of a terminal state',
    { states: [TODO, DOING, { ...DONE, after_enter: [{ action: 'cascade', to: 'todo' }] }, CANCELLED] },
    ['states[2].after_enter[0]: "done" is terminal: no cascade leads out of it'],
  ],
  [
    'a budget check without a budget',
    withDoing({ after_enter: [{ action: 'check_retry_budget' }] }),
    ['states[1].after_enter[0].action: check_retry_budget has no budget to check'],
  ],
  [
    'a cascade to itself',
    withDoing({ after_enter: [{ action: 'cascade', to: 'doing' }] }),
    ['states[1].after_enter[0].to: cascades without end: doing -> doing'],
  ],
  [
    'cascades in a circle',
    {
      states: [
        TODO,
        { ...DOING, next: ['a'] },
        DONE,
        CANCELLED,
        ...chain(['a', 'b', 'c']).map((state, at) =>
          at === 2
            ? { ...state, next: ['a'], after_enter: [{ action: 'cascade_on_review', to: 'a' }] }
            : state,
        ),
      ],
    },
    ['states[4].after_enter[0].to: cascades without end: a -> b -> c -> a'],
  ],
  [
    'two circles',
    {
      states: [
        TODO,
        { ...DOING, next: ['a', 'c', 'done'] },
        DONE,
        CANCELLED,
        { name: 'a', kind: 'custom', next: ['b'], after_enter: [{ action: 'cascade', to: 'b' }] },
        { name: 'b', kind: 'custom', next: ['a'], after_enter: [{ action: 'cascade', to: 'a' }] },
        { name: 'c', kind: 'custom', next: ['d'], after_enter: [{ action: 'cascade', to: 'd' }] },
        { name: 'd', kind: 'custom', next: ['c'], after_enter: [{ action: 'cascade', to: 'c' }] },
      ],
    },
    [
      'states[4].after_enter[0].to: cascades without end: a -> b -> a',
      'states[6].after_enter[0].to: cascades without end: c -> d -> c',
    ],
  ],
  [
    'a spent budget that leads back',
    withDoing(
      { next: ['check', 'done'] },
      { name: 'check', kind: 'gate', next: ['done'], gate_config: { max_rejections: 1 } },
      { ...BLOCKED, next: ['check'], after_enter: [{ action: 'cascade', to: 'check' }] },
    ),
    ['states[4].gate_config.max_rejections: cascades without end: check -> blocked -> check'],
  ],
  [
    'more cascades than are followed',
    { states: [TODO, { ...DOING, next: ['a'] }, DONE, CANCELLED, ...chain(['a', 'b', 'c', 'd', 'e'])] },
    [
      'states[4].after_enter[0].to: 4 cascades in a row (a -> b -> c -> d -> e), and no more than 3 are followed',
    ],
  ],
  [
    'a longer chain, which is told once, where it begins',
    { states: [TODO, { ...DOING, next: ['a'] }, DONE, CANCELLED, ...chain(['a', 'b', 'c', 'd', 'e', 'f'])] },
    [
      'states[4].after_enter[0].to: 5 cascades in a row (a -> b -> c -> d -> e -> f), and no more than 3 are followed',
    ],
  ],
  [
    'too many states',
    { states: Array.from({ length: 101 }, (_, at) => ({ name: `s${at}`, kind: 'custom' })) },
    ['states: has 101 elements; the limit is 100'],
  ],
  [
    'too many hooks',
    withDoing({ before_exit: Array.from({ length: 1_000 }, () => ({ action: 'dependency_gate' })) }),
    ['states[1].before_exit: has 1000 elements; the limit is 50'],
  ],
  [
    'too many edges',
    withDoing({ next: Array.from({ length: 101 }, () => 'done') }),
    ['states[1].next: has 101 elements; the limit is 100'],
  ],
  [
    '[S176] many at once, in the order of the definition',
    {
      cancellation_state: 'doing',
      states: [
        { ...TODO, role: 'boss', next: ['doing', 'nowhere'] },
        { ...DOING, on_enter: [{ action: 'dance' }] },
        { ...DONE, next: ['todo'] },
        { name: 'island', kind: 'custom' },
      ],
      roles: ['coder'],
      extra: 1,
    },
    [
      'states[0].role: no role is called "boss"',
      'states[0].next[1]: no state is called "nowhere"',
      'states[1].on_enter[0].action: no action is called "dance"',
      'states[2].next: "done" is terminal: no edge leads out of it',
      'states[3]: nothing leads to "island"',
      'states[3].next: nothing leads on from "island", and it is not terminal',
      'cancellation_state: "doing" has the kind "active", and a cancelled task ends in a terminal state',
      'extra: unknown key "extra"',
    ],
  ],
];

describe('a broken workflow', () => {
  it.each(BROKEN)('%s', (_title, json, faults) => {
    expect(faultsOf(json)).toEqual(faults);
  });

  it.each(Object.keys(ACTION_PHASES))('[S176] names %s in each phase where it cannot stand', (action) => {
    const allowed: readonly string[] = ACTION_PHASES[action as keyof typeof ACTION_PHASES];
    const to = action.startsWith('cascade') ? { to: 'done' } : {};
    const said = HOOK_PHASES.filter((phase) =>
      faultsOf(withDoing({ [phase]: [{ action, ...to }] })).includes(
        `states[1].${phase}[0].action: ${action} cannot stand in ${phase}`,
      ),
    );
    expect(said).toEqual(HOOK_PHASES.filter((phase) => !allowed.includes(phase)));
  });
});

describe('hostile input', () => {
  it('is bounded in what is said about it', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, 1]));
    const { faults } = validateWorkflow({ ...SMALL, ...many });
    expect(faults).toHaveLength(LIMITS.workflow_faults + 1);
    expect(faults.at(-1)).toEqual({
      path: '',
      message: `and ${100_000 - LIMITS.workflow_faults} faults more`,
    });
  });

  it('may be nested as deep as memory allows', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    expect(faultsOf(deep)).toEqual(['states: is missing', 'deep: unknown key "deep"']);
    expect(faultsOf({ ...SMALL, roles: [deep] })).toEqual(['roles[0]: must be a text, and is an object']);
  });

  it('may be as large as the limits allow: every cascade to every state', () => {
    const names = Array.from({ length: LIMITS.workflow_states - 4 }, (_, at) => `s${at}`);
    const states = names.map((name) => ({
      name,
      kind: 'custom',
      next: names.filter((other) => other !== name),
      after_enter: names.slice(0, LIMITS.hooks_per_phase).map((to) => ({ action: 'cascade', to })),
    }));
    const { faults } = validateWorkflow({
      states: [{ ...TODO, next: ['doing', 's0'] }, DOING, DONE, CANCELLED, ...states],
    });
    expect(faults.map(({ message }) => message)).toContain('cascades without end: s0 -> s0');
  });
});

describe('the hand-written check', () => {
  it('has the words of the contract', () => {
    expect({ KINDS, PHASES, AUDIENCES, POLICIES }).toEqual({
      KINDS: STATE_KINDS,
      PHASES: HOOK_PHASES,
      AUDIENCES: HOOK_AUDIENCES,
      POLICIES: FAILURE_POLICIES,
    });
  });

  it('knows every key of the contract', () => {
    const hintOf = (json: unknown, path: string): string | undefined =>
      validateWorkflow(json).faults.find((fault) => fault.path === path)?.hint;
    const list = (schema: { shape: object }): string => `Known are ${Object.keys(schema.shape).join(', ')}`;
    expect(hintOf({ zzz: 1 }, 'zzz')).toBe(list(Workflow));
    expect(hintOf(withDoing({ zzz: 1 }), 'states[1].zzz')).toBe(list(WorkflowState));
    expect(hintOf(withDoing({ on_enter: [{ zzz: 1 }] }), 'states[1].on_enter[0].zzz')).toBe(
      list(WorkflowHook),
    );
  });

  it('has the same rule for names', () => {
    for (const name of [
      'a',
      'a-b_2',
      'x'.repeat(60),
      'x'.repeat(61),
      '',
      '2a',
      'A',
      'é',
      'a b',
      'a\n',
      '-a',
    ]) {
      const said = faultsOf(withTop({ roles: [name] }));
      expect([name, said.length === 0]).toEqual([name, StateName.safeParse(name).success]);
    }
  });

  it('refuses whatever the contract refuses', () => {
    const refused = BROKEN.filter(([, json]) => !Workflow.safeParse(json).success);
    expect(refused.length).toBeGreaterThan(20);
    expect(refused.filter(([, json]) => faultsOf(json).length === 0)).toEqual([]);
  });
});
