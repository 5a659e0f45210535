import type { Status, TaskType } from '#contract/task.ts';

/** What a word of theirs means here. `exact`: nothing is lost by not keeping the word. */
export interface LifeWord {
  readonly status: Status;
  readonly state: string | null;
  readonly exact: boolean;
}

const TODO: LifeWord = { status: 'open', state: null, exact: true };
const PARKED: LifeWord = { status: 'open', state: 'backlog', exact: true };
const WORKING: LifeWord = { status: 'in_progress', state: null, exact: true };
const REVIEW: LifeWord = { status: 'in_progress', state: 'review', exact: true };
const BLOCKED: LifeWord = { status: 'in_progress', state: 'blocked', exact: true };
const DONE: LifeWord = { status: 'closed', state: null, exact: true };
const CANCELLED: LifeWord = { status: 'closed', state: 'cancelled', exact: true };

const LIFE: ReadonlyMap<string, LifeWord> = new Map([
  ...words(TODO, ['open', 'todo', 'to-do', 'pending']),
  ...words(loose(TODO), ['new', 'ready', 'planned']),
  ...words(PARKED, ['deferred', 'backlog']),
  ...words(loose(PARKED), ['pinned', 'draft', 'icebox', 'later']),
  ...words(WORKING, ['in-progress']),
  ...words(loose(WORKING), ['hooked', 'doing', 'started', 'active', 'wip', 'testing']),
  ...words(REVIEW, ['review', 'in-review']),
  ...words(BLOCKED, ['blocked']),
  ...words(loose(BLOCKED), ['on-hold', 'waiting']),
  ...words(DONE, ['done', 'completed', 'closed']),
  ...words(loose(DONE), ['complete', 'finished', 'resolved', 'merged', 'released']),
  ...words(CANCELLED, ['cancelled', 'canceled']),
  ...words(loose(CANCELLED), [
    'wontfix',
    "won't-fix",
    "won't-do",
    'abandoned',
    'obsolete',
    'rejected',
    'duplicate',
  ]),
]);

/** `In Progress`, `in_progress` and `in-progress` are one word. Undefined for a word that says nothing to us. */
export function findLife(word: string): LifeWord | undefined {
  return LIFE.get(toWord(word));
}

/** Nobody should be given a task of which we do not know whether it may be worked on. */
export const UNKNOWN_LIFE: LifeWord = { ...PARKED, exact: false };

const PRIORITIES: ReadonlyMap<string, number> = new Map([
  ...words(0, ['critical', 'urgent', 'highest', 'p0']),
  ...words(1, ['high', 'p1']),
  ...words(2, ['medium', 'normal', 'p2']),
  ...words(3, ['low', 'p3']),
  ...words(4, ['lowest', 'trivial', 'backlog', 'p4']),
]);

export function findPriority(word: string): number | undefined {
  return PRIORITIES.get(toWord(word));
}

const TYPES: ReadonlyMap<string, TaskType> = new Map<string, TaskType>([
  ['task', 'task'],
  ['bug', 'bug'],
  ['feature', 'feature'],
  ['epic', 'epic'],
  ['message', 'message'],
  ['enhancement', 'feature'],
  ['story', 'feature'],
  ['milestone', 'epic'],
  ['molecule', 'epic'],
]);

/** `label`: the word itself, where the type alone does not say it. */
export function readType(word: string): { type: TaskType; label: string | undefined } {
  if (word === '') return { type: 'task', label: undefined };
  const type = TYPES.get(toWord(word)) ?? 'task';
  return { type, label: type === toWord(word) ? undefined : word };
}

function toWord(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-');
}

function words<Value>(value: Value, list: readonly string[]): [string, Value][] {
  return list.map((word) => [word, value]);
}

function loose(word: LifeWord): LifeWord {
  return { ...word, exact: false };
}
