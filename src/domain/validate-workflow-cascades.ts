import { LIMITS } from '#kernel/limits.ts';
import type { PathStep } from './locate-json.ts';
import type { FaultReport } from './validate-workflow-report.ts';
import type { DraftNames } from './validate-workflow-rules.ts';
import type { DraftState } from './validate-workflow-shape.ts';
import { CASCADING_ACTIONS } from './workflow.ts';

interface Cascade {
  readonly to: DraftState;
  readonly steps: readonly PathStep[];
}

type Cascades = ReadonlyMap<DraftState, readonly Cascade[]>;

/** Cascades that would lead a task around for ever, or through more states than are followed. */
export function checkCascades(names: DraftNames, report: FaultReport): void {
  const cascades: Cascades = new Map(
    [...names.states.values()].map((state) => [state, listCascades(state, names)] as const),
  );
  const told = new Set<DraftState>();
  const endless = new Set<DraftState>();
  for (const state of cascades.keys()) {
    const circle = findCircle(state, cascades);
    if (circle === undefined) continue;
    endless.add(state);
    if (told.has(state)) continue;
    // One for all circles that hang together.
    const around = findReach(state, cascades);
    for (const other of around) if (findReach(other, cascades).has(state)) told.add(other);
    report.add(circle.steps, `cascades without end: ${showWay([state, ...circle.way])}`);
  }
  checkChains(cascades, endless, report);
}

/** Where a task is led on to without somebody asking; a spent budget leads to the blocked state. */
function listCascades(state: DraftState, { states, blocked }: DraftNames): Cascade[] {
  if (state.kind === 'terminal') return [];
  const drawn = state.hooks.flatMap(({ action, phase, to, steps }): Cascade[] => {
    const target = states.get(to ?? '');
    const leads = phase === 'after_enter' && CASCADING_ACTIONS.has(action) && target !== undefined;
    return leads ? [{ to: target, steps: [...steps, 'to'] }] : [];
  });
  if (state.max_rejections === undefined || blocked === undefined || blocked === state) return drawn;
  return [...drawn, { to: blocked, steps: ['states', state.index, 'gate_config', 'max_rejections'] }];
}

/** The shortest way from a state back to it. */
function findCircle(
  start: DraftState,
  cascades: Cascades,
): { way: DraftState[]; steps: readonly PathStep[] } | undefined {
  const before = new Map<DraftState, DraftState>();
  const first = new Map<DraftState, readonly PathStep[]>();
  const open = [start];
  for (const state of open) {
    for (const { to, steps } of cascades.get(state) ?? []) {
      const origin = first.get(state) ?? steps;
      if (to === start) return { way: [...traceBack(state, before), start], steps: origin };
      if (before.has(to)) continue;
      before.set(to, state);
      first.set(to, origin);
      open.push(to);
    }
  }
  return undefined;
}

/** From behind the start up to this state. */
function traceBack(state: DraftState, before: ReadonlyMap<DraftState, DraftState>): DraftState[] {
  const way: DraftState[] = [];
  for (let at: DraftState | undefined = state; at !== undefined && before.has(at); at = before.get(at))
    way.unshift(at);
  return way;
}

function findReach(start: DraftState, cascades: Cascades): ReadonlySet<DraftState> {
  const reached = new Set([start]);
  for (const state of reached) for (const { to } of cascades.get(state) ?? []) reached.add(to);
  return reached;
}

/** Each chain is told where it begins. Those that end in a circle are endless, which was said. */
function checkChains(cascades: Cascades, endless: ReadonlySet<DraftState>, report: FaultReport): void {
  const measured = new Map<DraftState, readonly DraftState[] | undefined>();
  for (const state of cascades.keys()) findLongest(state, cascades, { measured, endless });
  const entered = new Set<DraftState>();
  for (const [state, list] of cascades) {
    if (measured.get(state) !== undefined) for (const { to } of list) entered.add(to);
  }
  for (const [state, way] of measured) {
    if (way === undefined || way.length <= LIMITS.cascade_depth || entered.has(state)) continue;
    const steps = cascades.get(state)?.find(({ to }) => to === way[0])?.steps ?? ['states', state.index];
    const message = `${way.length} cascades in a row (${showWay([state, ...way])}), and no more than ${LIMITS.cascade_depth} are followed`;
    report.add(steps, message);
  }
}

/** The states behind this one on its longest chain; undefined where it leads into a circle. */
function findLongest(
  state: DraftState,
  cascades: Cascades,
  known: {
    readonly measured: Map<DraftState, readonly DraftState[] | undefined>;
    readonly endless: ReadonlySet<DraftState>;
  },
): readonly DraftState[] | undefined {
  const { measured, endless } = known;
  if (endless.has(state)) return undefined;
  if (measured.has(state)) return measured.get(state);
  let longest: readonly DraftState[] | undefined = [];
  for (const { to } of cascades.get(state) ?? []) {
    const rest = findLongest(to, cascades, known);
    if (rest === undefined) longest = undefined;
    if (rest === undefined || longest === undefined) break;
    if (rest.length + 1 > longest.length) longest = [to, ...rest];
  }
  measured.set(state, longest);
  return longest;
}

function showWay(states: readonly DraftState[]): string {
  return states.map(({ name, index }) => name ?? `states[${index}]`).join(' -> ');
}
