import { LIMITS } from '#kernel/limits.ts';
import { compareText } from '#kernel/text.ts';
import { type PathStep, toPath } from './locate-json.ts';

/** One thing that is wrong with a workflow. */
export interface Fault {
  /** `states[3].next[1]`; empty for the whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

export interface FoundFault extends Fault {
  readonly steps: readonly PathStep[];
}

/** Collects the faults of one validation. */
export interface FaultReport {
  add(steps: readonly PathStep[], message: string, hint?: string): void;
  /** In the order of the definition; beyond the limit only their number. */
  list(): FoundFault[];
}

export function createFaultReport(): FaultReport {
  const found: FoundFault[] = [];
  let more = 0;
  return {
    add(steps, message, hint) {
      if (found.length >= LIMITS.workflow_faults) {
        more += 1;
        return;
      }
      found.push({ path: toPath(steps), steps, message, ...(hint !== undefined && { hint }) });
    },
    list() {
      const sorted = found.toSorted((a, b) => comparePaths(a.steps, b.steps));
      if (more > 0) sorted.push({ path: '', steps: [], message: `and ${more} faults more` });
      return sorted;
    },
  };
}

/** Keys in their usual order, list elements by number; what is inside follows what is around it. */
function comparePaths(a: readonly PathStep[], b: readonly PathStep[]): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const [left, right] = [a[at], b[at]];
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    return rankOf(left) - rankOf(right) || compareText(String(left), String(right));
  }
  return a.length - b.length;
}

/** Unknown keys come last. */
function rankOf(step: PathStep | undefined): number {
  const rank = KEY_ORDER.indexOf(String(step));
  return rank === -1 ? KEY_ORDER.length : rank;
}

export const TOP_KEYS: readonly string[] = [
  'roles',
  'states',
  'cancellation_state',
  'blocked_state',
  'status_states',
];
export const STATE_KEYS: readonly string[] = [
  'name',
  'kind',
  'role',
  'next',
  'gate_config',
  'before_exit',
  'on_exit',
  'on_enter',
  'after_enter',
];
export const HOOK_KEYS: readonly string[] = ['action', 'audience', 'on_failure', 'to'];
const KEY_ORDER = [...TOP_KEYS, ...STATE_KEYS, ...HOOK_KEYS];

/** Somebody's text in a message: in quotes, and not longer than a line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
