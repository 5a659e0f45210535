import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Workflow } from '#contract/workflow.ts';
import { LIMITS } from '#kernel/limits.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { validateWorkflow } from './validate-workflow.ts';
import { findEdge, resolveWorkflow } from './workflow.ts';

type State = Workflow['states'][number];

/**
 * One initial state, some of any kind, the two ends; edges anywhere, or only onward where no circle is wanted; cascades
 * along edges, often to the next state, so that there are chains.
 */
const GRAPHS = fc.tuple(fc.integer({ min: 1, max: 7 }), fc.boolean()).chain(([size, onward]) => {
  const names = ['start', ...Array.from({ length: size }, (_, at) => `s${at}`), 'done', 'cancelled'];
  const kinds = fc.constantFrom('backlog' as const, 'active' as const, 'gate' as const, 'custom' as const);
  const part = fc.record({
    kind: kinds,
    next: fc.subarray(names, { maxLength: 3 }),
    led: fc.subarray(names, { maxLength: 2 }),
    chained: fc.boolean(),
  });
  return fc.array(part, { minLength: size + 1, maxLength: size + 1 }).map((parts): Workflow => ({
    states: [
      ...parts.map(({ kind, next, led, chained }, at): State => {
        const more = chained ? [names[at + 1] ?? ''] : [];
        const fits = (target: string): boolean =>
          target !== names[at] && (!onward || names.indexOf(target) > at);
        const edges = [...new Set([...next, ...more])].filter(fits);
        const cascades = [...new Set([...led, ...more])].filter((target) => edges.includes(target));
        return {
          name: names[at] ?? '',
          kind: at === 0 ? 'initial' : at === 1 ? 'active' : kind,
          next: edges,
          after_enter: cascades.map((to) => ({ action: 'cascade', to })),
        };
      }),
      { name: 'done', kind: 'terminal' },
      { name: 'cancelled', kind: 'terminal' },
    ],
  }));
});

/** Whatever can be reached by whatever relation, by squaring it until nothing is added: no queue, no visited set. */
function closure(
  names: readonly string[],
  related: (a: string, b: string) => boolean,
): Map<string, Set<string>> {
  const reach = new Map(names.map((a) => [a, new Set(names.filter((b) => related(a, b)))]));
  for (const through of names) {
    for (const a of names) {
      if (reach.get(a)?.has(through) !== true) continue;
      for (const b of reach.get(through) ?? []) reach.get(a)?.add(b);
    }
  }
  return reach;
}

function judgeNaively(workflow: Workflow): string[] {
  const resolved = resolveWorkflow(workflow);
  const names = workflow.states.map(({ name }) => name);
  const find = (name: string): State | undefined => workflow.states.find((state) => state.name === name);
  const leads = (a: string, b: string): boolean => {
    const edge = findEdge(resolved, a, b);
    return edge !== undefined && a !== b;
  };
  const moves = closure(names, leads);
  const begins = names.filter((name) => ['initial', 'backlog'].includes(find(name)?.kind ?? ''));
  const unreached = names.filter(
    (name) => !begins.includes(name) && !begins.some((begin) => moves.get(begin)?.has(name)),
  );
  const stuck = names.filter(
    (name) => find(name)?.kind !== 'terminal' && (find(name)?.next ?? []).length === 0,
  );
  const led = (a: string, b: string): boolean =>
    find(a)?.kind !== 'terminal' && (find(a)?.after_enter ?? []).some(({ to }) => to === b);
  const cascades = closure(names, led);
  const endless = names.filter((name) => cascades.get(name)?.has(name));
  // All ways of one cascade more than are followed, one after the other.
  let ways = names.map((name) => [name]);
  for (let step = 0; step <= LIMITS.cascade_depth; step += 1)
    ways = ways.flatMap((way) =>
      names.filter((next) => led(way.at(-1) ?? '', next)).map((next) => [...way, next]),
    );
  const long = ways.some((way) =>
    way.every((name) => !endless.some((one) => one === name || cascades.get(name)?.has(one))),
  );
  return [
    ...unreached.map((name) => `nothing leads to "${name}"`),
    ...stuck.map((name) => `nothing leads on from "${name}", and it is not terminal`),
    ...(endless.length > 0 ? ['cascades without end'] : []),
    ...(long ? ['too many cascades'] : []),
  ].toSorted();
}

function judge(workflow: Workflow): string[] {
  const said = validateWorkflow(workflow).faults.map(({ message }) =>
    message.startsWith('cascades without end')
      ? 'cascades without end'
      : message.includes('cascades in a row')
        ? 'too many cascades'
        : message,
  );
  return [...new Set(said)].toSorted();
}

describe('random graphs', () => {
  it('are judged as by somebody who tries every way', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(GRAPHS, (workflow) => {
        const naive = judgeNaively(workflow);
        for (const fault of naive) seen.add(fault.replace(/".*"/, '"…"'));
        if (naive.length === 0) seen.add('fine');
        expect(judge(workflow)).toEqual(naive);
      }),
      { numRuns: 2_000 },
    );
    // Otherwise the two would agree on nothing that matters.
    expect([...seen].toSorted()).toEqual([
      'cascades without end',
      'fine',
      'nothing leads on from "…", and it is not terminal',
      'nothing leads to "…"',
      'too many cascades',
    ]);
  });

  it('that pass can be resolved, and every state has a way to an end', () => {
    fc.assert(
      fc.property(GRAPHS, (candidate) => {
        const { workflow } = validateWorkflow(candidate);
        if (workflow === undefined) return;
        expect(Workflow.parse(workflow)).toEqual(workflow);
        const resolved = resolveWorkflow(workflow);
        for (const name of [resolved.initial, resolved.in_progress, resolved.closed, resolved.cancelled])
          expect(resolved.states.has(name)).toBe(true);
        const open = [...resolved.states.values()].filter(({ kind }) => kind !== 'terminal');
        for (const { name } of open) expect(findEdge(resolved, name, resolved.cancelled)).toBe('cancel');
      }),
      { numRuns: 500 },
    );
  });
});

/** Every state and role under another name; nothing else. */
function rename(workflow: Workflow, to: (name: string) => string): Workflow {
  const hooks = (list: State['on_enter']): State['on_enter'] =>
    list?.map((hook) => ({ ...hook, ...(hook.to !== undefined && { to: to(hook.to) }) }));
  return {
    roles: (workflow.roles ?? []).map(to),
    states: workflow.states.map(
      ({ name, role, next, before_exit, on_exit, on_enter, after_enter, ...state }) => ({
        ...state,
        name: to(name),
        ...(role !== undefined && { role: to(role) }),
        ...(next !== undefined && { next: next.map(to) }),
        ...(before_exit !== undefined && { before_exit: hooks(before_exit) }),
        ...(on_exit !== undefined && { on_exit: hooks(on_exit) }),
        ...(on_enter !== undefined && { on_enter: hooks(on_enter) }),
        ...(after_enter !== undefined && { after_enter: hooks(after_enter) }),
      }),
    ),
    cancellation_state: to(workflow.cancellation_state ?? 'cancelled'),
    blocked_state: to(workflow.blocked_state ?? 'blocked'),
    status_states: { in_progress: to('in_progress'), closed: to('done') },
  };
}

describe('the default workflow', () => {
  it('is fine under other names, and means the same', () => {
    const renamed = rename(DEFAULT_WORKFLOW, (name) => `x-${name}`);
    expect(validateWorkflow(renamed)).toEqual({ workflow: renamed, faults: [] });
    const [before, after] = [resolveWorkflow(DEFAULT_WORKFLOW), resolveWorkflow(renamed)];
    for (const key of ['initial', 'in_progress', 'closed', 'cancelled', 'blocked', 'parked'] as const)
      expect(after[key]).toBe(`x-${before[key]}`);
  });

  type Change = (workflow: Workflow, at: number) => string | undefined;
  /** Each makes one kind of fault in the state of this number and says what must be named; undefined: not possible there. */
  const MUTATIONS: Readonly<Record<string, Change>> = {
    'an unknown target': (workflow, at) => edit(workflow, at, { next: ['nowhere'] }, `states[${at}].next[0]`),
    'an edge to itself': ({ states }, at) => {
      const state = states[at];
      if (state?.next === undefined) return undefined;
      state.next = [...state.next, state.name];
      return `states[${at}].next[${state.next.length - 1}]`;
    },
    'a target twice': ({ states }, at) => {
      const state = states[at];
      if (state?.next?.[0] === undefined) return undefined;
      state.next = [...state.next, state.next[0]];
      return `states[${at}].next[${state.next.length - 1}]`;
    },
    'no edges': ({ states }, at) => {
      const state = states[at];
      if (state === undefined || state.kind === 'terminal') return undefined;
      delete state.next;
      return `states[${at}].next`;
    },
    'an edge out of an end': ({ states }, at) => {
      const state = states[at];
      if (state?.kind !== 'terminal') return undefined;
      state.next = ['todo'];
      return `states[${at}].next`;
    },
    'a second initial state': (workflow, at) =>
      workflow.states[at]?.kind === 'initial'
        ? undefined
        : edit(workflow, at, { kind: 'initial' }, `states[${Math.max(at, 1)}].kind`),
    'an unknown role': (workflow, at) => edit(workflow, at, { role: 'nobody' }, `states[${at}].role`),
    'the assignee elsewhere': (workflow, at) =>
      workflow.states[at]?.kind === 'active'
        ? undefined
        : edit(workflow, at, { role: 'assignee' }, `states[${at}].role`),
    'a budget elsewhere': (workflow, at) =>
      workflow.states[at]?.kind === 'gate'
        ? undefined
        : edit(workflow, at, { gate_config: { max_rejections: 1 } }, `states[${at}].gate_config`),
    'an unknown action': (workflow, at) =>
      edit(workflow, at, { on_exit: [{ action: 'nothing' }] }, `states[${at}].on_exit[0].action`),
    'an action in the wrong phase': (workflow, at) =>
      edit(workflow, at, { on_exit: [{ action: 'run_merge' }] }, `states[${at}].on_exit[0].action`),
    'a cascade without a target': (workflow, at) =>
      edit(workflow, at, { after_enter: [{ action: 'cascade' }] }, `states[${at}].after_enter[0].to`),
    'a cascade to itself': (workflow, at) => {
      const state = workflow.states[at];
      if (state === undefined || state.kind === 'terminal') return undefined;
      return edit(
        workflow,
        at,
        { after_enter: [{ action: 'cascade', to: state.name }] },
        `states[${at}].after_enter[0].to`,
      );
    },
    'another name': (workflow, at) => {
      const users = JSON.stringify(workflow).split(`"${workflow.states[at]?.name}"`).length - 1;
      // What nobody refers to may be called anything; backlog is named by todo.
      return users < 2 ? undefined : edit(workflow, at, { name: 'renamed' }, undefined);
    },
    'a name twice': (workflow, at) =>
      at === 0 ? undefined : edit(workflow, at, { name: 'backlog' }, `states[${at}].name`),
    'a bad name': (workflow, at) => edit(workflow, at, { name: 'Bad Name' }, `states[${at}].name`),
    'an unknown key': (workflow, at) =>
      edit(workflow, at, { nxt: [] } as Partial<State>, `states[${at}].nxt`),
  };

  function edit(workflow: Workflow, at: number, change: Partial<State>, path: string | undefined): string {
    Object.assign(workflow.states[at] ?? {}, change);
    return path ?? '';
  }

  it.each(Object.entries(MUTATIONS))('with %s in any state is refused, at that place', (_title, change) => {
    let tried = 0;
    for (const at of DEFAULT_WORKFLOW.states.keys()) {
      const mutant = structuredClone(DEFAULT_WORKFLOW);
      const path = change(mutant, at);
      if (path === undefined) continue;
      tried += 1;
      const { workflow, faults } = validateWorkflow(mutant);
      expect([at, workflow]).toEqual([at, undefined]);
      expect(['', ...faults.map((fault) => fault.path)]).toContain(path);
    }
    expect(tried).toBeGreaterThan(0);
  });
});
