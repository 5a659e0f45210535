import type { HookPhase, StateKind } from '#contract/workflow.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { PathStep } from './locate-json.ts';
import { type FaultReport, HOOK_KEYS, quote, STATE_KEYS, TOP_KEYS } from './validate-workflow-report.ts';

/**
 * The contract's lists once more: its module brings zod, which a command that claims a task must not load. A test holds
 * the two against each other.
 */
export const KINDS = ['backlog', 'initial', 'active', 'gate', 'custom', 'terminal'] as const;
export const PHASES = ['before_exit', 'on_exit', 'on_enter', 'after_enter'] as const;
export const AUDIENCES = ['all', 'agent_only', 'user_only'] as const;
export const POLICIES = ['block', 'log'] as const;
const NAME = /^[a-z][a-z0-9_-]*$/;
const NAME_RULE = `a name has lower-case letters, digits, _ and -, begins with a letter, and has at most ${LIMITS.state_name_length} characters`;

/** What could be read of a definition, for the rules that look at more than one value. */
export interface WorkflowDraft {
  /** Undefined where the list itself cannot be read. */
  readonly roles: ReadonlySet<string> | undefined;
  readonly states: readonly DraftState[];
  readonly cancellation_state: string | undefined;
  readonly blocked_state: string | undefined;
  readonly in_progress: string | undefined;
  readonly closed: string | undefined;
}

export interface DraftState {
  readonly index: number;
  /** Any text, also one that is no name: what refers to it is not wrong besides. */
  readonly name: string | undefined;
  readonly kind: StateKind | undefined;
  readonly role: string | undefined;
  /** Undefined where it is not a list. */
  readonly next: readonly DraftName[] | undefined;
  readonly has_gate_config: boolean;
  readonly max_rejections: number | undefined;
  readonly hooks: readonly DraftHook[];
}

export interface DraftName {
  readonly name: string;
  readonly steps: readonly PathStep[];
}

export interface DraftHook {
  readonly phase: HookPhase;
  readonly action: string;
  readonly to: string | undefined;
  /** It has a `to`, if perhaps one that cannot be read. */
  readonly has_to: boolean;
  readonly steps: readonly PathStep[];
}

/** Undefined where there is nothing to look at further. */
export function readDraft(json: unknown, report: FaultReport): WorkflowDraft | undefined {
  if (!isObject(json)) {
    report.add([], `a workflow is a JSON object, and this is ${describe(json)}`);
    return undefined;
  }
  checkKeys(json, { steps: [], known: TOP_KEYS }, report);
  const roles = readNames(json['roles'], { steps: ['roles'], limit: LIMITS.workflow_states }, report);
  const states = readStates(json['states'], report);
  const statusStates = readObject(json['status_states'], ['status_states'], report);
  checkKeys(statusStates, { steps: ['status_states'], known: ['in_progress', 'closed'] }, report);
  if (states === undefined) return undefined;
  const reference = (holder: JsonRecord, ...steps: readonly string[]): string | undefined =>
    readText(holder[steps.at(-1) ?? ''], steps, report);
  return {
    roles: roles === undefined ? undefined : new Set(roles.map(({ name }) => name)),
    states,
    cancellation_state: reference(json, 'cancellation_state'),
    blocked_state: reference(json, 'blocked_state'),
    in_progress: reference(statusStates, 'status_states', 'in_progress'),
    closed: reference(statusStates, 'status_states', 'closed'),
  };
}

function readStates(value: unknown, report: FaultReport): DraftState[] | undefined {
  const steps = ['states'];
  if (value === undefined) {
    report.add(steps, 'is missing', '{} is the built-in workflow; one of your own lists its states');
    return undefined;
  }
  const list = readList(value, { steps, limit: LIMITS.workflow_states }, report);
  if (list === undefined) return undefined;
  if (list.length === 0) report.add(steps, 'is empty');
  return list.map((state, index) => readState(state, index, report));
}

function readState(value: unknown, index: number, report: FaultReport): DraftState {
  const steps = ['states', index];
  const state = readObject(value, steps, report);
  checkKeys(state, { steps, known: STATE_KEYS }, report);
  const readable = isObject(value);
  const name = readable ? readName(state['name'], [...steps, 'name'], report) : undefined;
  const kind = readable
    ? readWord(state['kind'], { steps: [...steps, 'kind'], words: KINDS }, report)
    : undefined;
  const gate = readObject(state['gate_config'], [...steps, 'gate_config'], report);
  checkKeys(gate, { steps: [...steps, 'gate_config'], known: ['max_rejections'] }, report);
  return {
    index,
    name,
    kind,
    role: readText(state['role'], [...steps, 'role'], report),
    next: readable ? readNext(state['next'], [...steps, 'next'], report) : undefined,
    has_gate_config: state['gate_config'] !== undefined,
    max_rejections: readBudget(gate['max_rejections'], [...steps, 'gate_config', 'max_rejections'], report),
    hooks: PHASES.flatMap((phase) => readHooks(state[phase], { steps: [...steps, phase], phase }, report)),
  };
}

/** The names are checked against the states later: one that no state has is wrong, whatever it looks like. */
function readNext(value: unknown, steps: readonly PathStep[], report: FaultReport): DraftName[] | undefined {
  if (value === undefined) return [];
  const list = readList(value, { steps, limit: LIMITS.workflow_states }, report);
  return list?.flatMap((entry, at) => {
    const name = readText(entry, [...steps, at], report);
    return name === undefined ? [] : [{ name, steps: [...steps, at] }];
  });
}

function readHooks(
  value: unknown,
  { steps, phase }: { readonly steps: readonly PathStep[]; readonly phase: HookPhase },
  report: FaultReport,
): DraftHook[] {
  if (value === undefined) return [];
  const list = readList(value, { steps, limit: LIMITS.hooks_per_phase }, report) ?? [];
  return list.flatMap((entry, at) => readHook(entry, { steps: [...steps, at], phase }, report));
}

function readHook(
  value: unknown,
  { steps, phase }: { readonly steps: readonly PathStep[]; readonly phase: HookPhase },
  report: FaultReport,
): DraftHook[] {
  const hook = readObject(value, steps, report);
  if (!isObject(value)) return [];
  checkKeys(hook, { steps, known: HOOK_KEYS }, report);
  const action = readRequired(hook['action'], [...steps, 'action'], report);
  if (hook['audience'] !== undefined)
    readWord(hook['audience'], { steps: [...steps, 'audience'], words: AUDIENCES }, report);
  if (hook['on_failure'] !== undefined)
    readWord(hook['on_failure'], { steps: [...steps, 'on_failure'], words: POLICIES }, report);
  const to = readText(hook['to'], [...steps, 'to'], report);
  if (action === undefined) return [];
  return [{ phase, action, to, has_to: hook['to'] !== undefined, steps }];
}

function readNames(
  value: unknown,
  { steps, limit }: { readonly steps: readonly PathStep[]; readonly limit: number },
  report: FaultReport,
): DraftName[] | undefined {
  if (value === undefined) return [];
  const list = readList(value, { steps, limit }, report);
  const names = list?.flatMap((entry, at) => {
    const name = readName(entry, [...steps, at], report);
    return name === undefined ? [] : [{ name, steps: [...steps, at] }];
  });
  const seen = new Set<string>();
  for (const { name, steps: place } of names ?? []) {
    if (seen.has(name)) report.add(place, `${quote(name)} stands here twice`);
    seen.add(name);
  }
  return names;
}

function readName(value: unknown, steps: readonly PathStep[], report: FaultReport): string | undefined {
  const name = readRequired(value, steps, report);
  if (name === undefined || (NAME.test(name) && name.length <= LIMITS.state_name_length)) return name;
  report.add(steps, `${quote(name)} is no name`, NAME_RULE);
  return name;
}

function readRequired(value: unknown, steps: readonly PathStep[], report: FaultReport): string | undefined {
  if (value === undefined) report.add(steps, 'is missing');
  return readText(value, steps, report);
}

function readText(value: unknown, steps: readonly PathStep[], report: FaultReport): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  report.add(steps, `must be a text, and is ${describe(value)}`);
  return undefined;
}

function readWord<T extends string>(
  value: unknown,
  { steps, words }: { readonly steps: readonly PathStep[]; readonly words: readonly T[] },
  report: FaultReport,
): T | undefined {
  const text = readRequired(value, steps, report);
  const known = words.find((word) => word === text);
  if (text !== undefined && known === undefined)
    report.add(steps, `${quote(text)} is not possible here`, `One of ${words.join(', ')}`);
  return known;
}

function readBudget(value: unknown, steps: readonly PathStep[], report: FaultReport): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LIMITS.max_rejections)
    return value;
  const found = typeof value === 'number' ? String(value) : describe(value);
  report.add(steps, `must be a whole number from 0 to ${LIMITS.max_rejections}, and is ${found}`);
  return undefined;
}

/** Undefined also for one that is too long: whatever were said of its elements would be too much. */
function readList(
  value: unknown,
  { steps, limit }: { readonly steps: readonly PathStep[]; readonly limit: number },
  report: FaultReport,
): readonly unknown[] | undefined {
  if (!Array.isArray(value)) {
    report.add(steps, `must be a list, and is ${describe(value)}`);
    return undefined;
  }
  if (value.length <= limit) return value;
  report.add(steps, `has ${value.length} elements; the limit is ${limit}`);
  return undefined;
}

type JsonRecord = Readonly<Record<string, unknown>>;
const NOTHING: JsonRecord = {};

/** An empty one where there is none, so that looking into it finds nothing. */
function readObject(value: unknown, steps: readonly PathStep[], report: FaultReport): JsonRecord {
  if (value === undefined) return NOTHING;
  if (isObject(value)) return value;
  report.add(steps, `must be an object, and is ${describe(value)}`);
  return NOTHING;
}

function checkKeys(
  value: JsonRecord,
  { steps, known }: { readonly steps: readonly PathStep[]; readonly known: readonly string[] },
  report: FaultReport,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      report.add([...steps, key], `unknown key ${quote(key)}`, `Known are ${known.join(', ')}`);
  }
}

function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return (
    { string: 'a text', number: 'a number', boolean: 'true or false', object: 'an object' }[
      typeof value as 'string' // JSON knows no other types
    ] ?? 'nothing that JSON knows'
  );
}
