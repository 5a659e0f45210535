import fc from 'fast-check';
import type { Status } from '#contract/task.ts';
import { applyLife } from '#domain/apply-life.ts';
import { decideClaim } from '#domain/decide-claim.ts';
import { decideLife, type LifeRequest } from '#domain/decide-life.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import {
  claimRecord,
  closeRecord,
  commentRecord,
  deleteRecord,
  editRecord,
  moveRecord,
  newRecord,
  reopenRecord,
  restoreRecord,
  type ElementEdit,
} from '#domain/task-changes.ts';
import { dependencyKey, isDeleted, lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { plainClaim } from './plain-claim.ts';

/**
 * Random histories of one task, for the tests of whatever handles records: every operation, on clocks that
 * stand still, run and jump back, with the words that break careless maps.
 */
export interface History {
  readonly birth: Birth;
  readonly steps: readonly Step[];
}

/** Made by Forge, or read from a line without stamps as another tool writes it. */
export interface Birth {
  readonly by: 'forge' | 'line';
  readonly at: number;
  readonly words: readonly string[];
  readonly parked: boolean;
}

export type Step = { readonly wait: number } & (
  | { readonly do: 'edit'; readonly edits: readonly EditOf[] }
  | { readonly do: 'request'; readonly request: LifeRequest }
  | { readonly do: 'claim'; readonly who: string; readonly force: boolean }
  | { readonly do: 'release' | 'close' | 'reopen' | 'comment' | 'delete' | 'restore'; readonly word: string }
);

export type EditOf =
  | { readonly of: 'field'; readonly key: string; readonly value: Json }
  | {
      readonly of: 'label' | 'dependency' | 'metadata' | 'conflict';
      readonly key: string;
      readonly value: Json | undefined;
    };

/** Names that are found in prototypes, look like numbers, mean something in `_v`, or are hard to write. */
export const WORDS = [
  'core',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '',
  '0',
  '10',
  '9',
  '-1',
  'status',
  'labels',
  'id',
  'é',
  '名前',
  '👩🏽‍💻',
  '\ud800',
  '\u2028',
  '"\\',
  'a:blocks',
] as const;

export const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1.5,
  1e-7,
  Number.MAX_SAFE_INTEGER,
  '',
  'text',
  '\ud800"\u0000',
  [],
  {},
  [1, [null, { b: 1, a: [] }]],
  JSON.parse('{"__proto__":{"x":1},"10":1,"9":2}') as Json,
];

export const FIELDS: Readonly<Record<string, readonly Json[]>> = {
  title: ['', 'Fix it', '名前'],
  description: ['', 'Line\nline'],
  priority: [0, 1, 2, 3, 4],
  type: ['task', 'bug', 'feature', 'epic', 'message'],
  parent_id: [null, 'fg-e5a2'],
  github_issue: [null, 1, 12],
};
/** Keys of a line that this version does not know; null empties one. */
export const UNKNOWN = ['sprint', 'x-team', '__proto__', 'constructor', '', '10', '9', 'toString'];
export const PEOPLE = ['ann', 'bob', 'worker-1'];
const STATUSES: readonly (Status | undefined)[] = [undefined, 'open', 'in_progress', 'closed'];

const word = fc.constantFrom(...WORDS);
const wait = fc.constantFrom(0, 0, 0, 1, 1, -1, 7, 1_000, -5_000, 86_400_000, -1_000_000_000);

const fieldEdit = fc.constantFrom<EditOf>(
  ...Object.entries(FIELDS).flatMap(([key, values]) =>
    values.map((value) => ({ of: 'field', key, value }) as const),
  ),
  ...UNKNOWN.flatMap((key) => [null, 'x', 5].map((value) => ({ of: 'field', key, value }) as const)),
);
const labelEdit = fc.constantFrom<EditOf>(
  ...WORDS.flatMap((key) => [true, undefined].map((value) => ({ of: 'label', key, value }) as const)),
);
const dependencyEdit = fc.constantFrom<EditOf>(
  ...['fg-b2c1', 'fg-c9d1', 'ab-1.2'].flatMap((id) =>
    ['blocks', 'related', 'discovered-from'].flatMap((type) =>
      [true, undefined].map((value) => ({ of: 'dependency', key: dependencyKey(id, type), value }) as const),
    ),
  ),
);
const metadataEdit = fc.constantFrom<EditOf>(
  ...WORDS.flatMap((key) =>
    [...VALUES, undefined, undefined].map((value) => ({ of: 'metadata', key, value }) as const),
  ),
);
/** What lost a merge is kept, and settled. */
const conflictEdit = fc.constantFrom<EditOf>(
  ...['title@1', 'metadata.__proto__@zz', 'life@0'].flatMap((key) =>
    ['lost', undefined].map((value) => ({ of: 'conflict', key, value }) as const),
  ),
);
const edits = fc.array(fc.oneof(fieldEdit, labelEdit, dependencyEdit, metadataEdit, conflictEdit), {
  minLength: 1,
  maxLength: 4,
});

export const REQUESTS: readonly LifeRequest[] = STATUSES.flatMap((status) =>
  ([undefined, 'todo', 'backlog'] as const).flatMap((state) =>
    [undefined, null, ...PEOPLE].flatMap((assignee) =>
      [undefined, 'duplicate of fg-b2c1'].map((reason) => ({
        status,
        state,
        assignee,
        reason,
        actor: { kind: 'user', name: 'ann' } as const,
      })),
    ),
  ),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ wait, do: fc.constant('edit' as const), edits }) },
  {
    weight: 3,
    arbitrary: fc.record({
      wait,
      do: fc.constant('request' as const),
      request: fc.constantFrom(...REQUESTS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      wait,
      do: fc.constant('claim' as const),
      who: fc.constantFrom(...PEOPLE),
      force: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      wait,
      do: fc.constantFrom('release', 'close', 'reopen', 'comment', 'delete', 'restore'),
      word,
    }),
  },
);

export const history: fc.Arbitrary<History> = fc.record({
  birth: fc.record({
    by: fc.constantFrom('forge', 'line'),
    at: fc.constantFrom(1_770_714_000_000, 1_770_714_000_001, 0),
    words: fc.array(word, { maxLength: 3 }),
    parked: fc.boolean(),
  }),
  steps: fc.array(step, { maxLength: 12 }),
});

/** One step of a history and what it did. */
export interface Happening {
  readonly step: Step;
  readonly before: TaskRecord;
  readonly after: TaskRecord;
}

/** Carries a history out, the way the store does: decisions first, and only what they allow. */
export function replay({ birth, steps }: History): {
  readonly last: TaskRecord;
  readonly happenings: readonly Happening[];
} {
  const happenings: Happening[] = [];
  let now = birth.at;
  let last = bear(birth);
  let undo = last;
  for (const one of steps) {
    now = Math.max(0, now + one.wait);
    const before = last;
    last = carryOut(before, one, { now, undo, number: happenings.length });
    if (one.do === 'delete' && last !== before) undo = before;
    happenings.push({ step: one, before, after: last });
  }
  return { last, happenings };
}

function bear({ by, at, words, parked }: Birth): TaskRecord {
  const unique = [...new Set(words)];
  if (by === 'line') {
    return decodeRecord({
      id: 'fg-a3f8',
      title: 'From a line',
      status: 'open',
      labels: unique,
      created_at: toIso(at),
      created_by: 'orchestrator',
      updated_at: toIso(at + 60_000),
      ...(parked && { sprint: 7, 'x-team': null }),
    });
  }
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      fields: { title: 'Made by Forge', priority: 1 },
      assignee: null,
      state: parked ? 'backlog' : 'todo',
      labels: unique,
      dependencies: parked ? [dependencyKey('fg-b2c1', 'blocks')] : [],
      metadata: new Map(unique.map((key) => [key, VALUES[key.length % VALUES.length] ?? null])),
    },
    at,
  );
}

/** One step on one record; what the decisions do not allow returns the very same record. */
export function carryOut(
  record: TaskRecord,
  one: Step,
  given: { now: number; undo: TaskRecord; number: number },
): TaskRecord {
  const { now } = given;
  const { life } = record;
  switch (one.do) {
    case 'edit':
      return editRecord(record, toEdit(one.edits), now);
    case 'request':
      return requestRecord(record, one.request, now);
    case 'claim': {
      const way = one.force ? 'force' : 'claim';
      const decision = decideClaim(plainClaim(life, { assignee: one.who, way }), DEFAULT_RESOLVED);
      return decision.outcome === 'claim' ? claimRecord(record, one.who, now) : record;
    }
    case 'release':
      return life.status === 'in_progress'
        ? moveRecord(record, { status: 'open', state: 'todo', assignee: null }, now)
        : record;
    case 'close':
      return closeRecord(record, one.word, now);
    case 'reopen':
      return life.status === 'closed' ? reopenRecord(record, null, now) : record;
    case 'comment': {
      const created_at = toIso(Math.max(now, lastStamp(record) + 1));
      const id = `c-${given.number}${one.word}`;
      return commentRecord(record, { id, author: 'ann', body: one.word, reply_to: null, created_at });
    }
    case 'delete':
      return isDeleted(record) ? record : deleteRecord(record, now);
    case 'restore':
      return isDeleted(record) ? restoreRecord(record, given.undo, now) : record;
  }
}

/** A request on status, state and owner; what is refused returns the very same record. */
export function requestRecord(record: TaskRecord, request: LifeRequest, now: number): TaskRecord {
  const wish = decideLife(record.life, request);
  if (wish.outcome !== 'claim') return applyLife(record, wish, now);
  const { way, assignee } = wish;
  const decision = decideClaim(plainClaim(record.life, { assignee, way }), DEFAULT_RESOLVED);
  return decision.outcome === 'claim' ? applyLife(record, { ...decision, assignee }, now) : record;
}

function toEdit(list: readonly EditOf[]): Parameters<typeof editRecord>[1] {
  const fields = new Map<string, Json>();
  const maps = {
    label: new Map<string, ElementEdit>(),
    dependency: new Map<string, ElementEdit>(),
    metadata: new Map<string, ElementEdit>(),
    conflict: new Map<string, ElementEdit>(),
  };
  for (const edit of list) {
    if (edit.of === 'field') fields.set(edit.key, edit.value);
    else maps[edit.of].set(edit.key, { value: edit.value });
  }
  const { label, dependency, metadata, conflict } = maps;
  return { fields, labels: label, dependencies: dependency, metadata, conflicts: conflict };
}

/** What no sequence of operations may lead to; undefined for a legal record. */
export function findIllegality({ life }: TaskRecord): string | undefined {
  if (life.status === 'in_progress' && life.assignee === null) return 'in progress without an owner';
  if (life.status !== 'closed' && life.closed_at !== null) return `${life.status} with closed_at`;
  if (life.status !== 'closed' && life.close_reason !== null) return `${life.status} with close_reason`;
  if (life.status === 'closed' && life.closed_at === null) return 'closed without closed_at';
  if (life.status === 'closed' && life.close_reason === null) return 'closed without close_reason';
  return undefined;
}
