import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import {
  decideSave,
  listSaveNeeds,
  NO_SAVE_FACTS,
  tellFormer,
  type Save,
  type SaveFacts,
  type SaveNeeds,
} from './decide-save.ts';
import { closeRecord, deleteRecord, editRecord, moveRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { roleField } from './workflow-fields.ts';

type Write = (before: TaskRecord) => TaskRecord | undefined;
const field =
  (name: string, value: unknown): Write =>
  (before) =>
    editRecord(before, { fields: new Map([[name, value as string]]) }, NOW);

/** In review, with nina as owner. */
const BEFORE = seenTask({ state: 'review', owner: 'nina' }).record;

const WRITES = {
  title: field('title', 'Two'),
  checks: field('review_config', { ci_steps: ['true'] }),
  'no checks': field('review_config', { ci_steps: [] }),
  reviewer: field(roleField('reviewer'), { agent: 'me' }),
  'to merging': (before) =>
    moveRecord(before, { status: 'in_progress', state: 'merging', assignee: 'nina' }, NOW),
  done: (before) => closeRecord(before, 'done', NOW, 'done'),
  release: (before) => moveRecord(before, { status: 'open', state: 'todo', assignee: null }, NOW),
  delete: () => undefined,
} as const satisfies Record<string, Write>;

const MERGE = { id: 'm-1', landed: false, finished_at: null };
const FACTS = {
  none: NO_SAVE_FACTS,
  unfinished: { ...NO_SAVE_FACTS, unfinished: true },
  'given up': { ...NO_SAVE_FACTS, given_up: true },
  landing: { ...NO_SAVE_FACTS, landing: MERGE },
  'landed long ago': {
    ...NO_SAVE_FACTS,
    landing: { ...MERGE, landed: true, finished_at: toIso(NOW - LIMITS.landed_move_ms - 1) },
  },
} as const satisfies Record<string, SaveFacts>;

const WHO = {
  person: { kind: 'user', vouches: undefined },
  'token without exec': { kind: 'user', vouches: false },
  'token with exec': { kind: 'user', vouches: true },
  agent: { kind: 'agent', vouches: undefined },
  'agent of a token without exec': { kind: 'agent', vouches: false },
  forge: { kind: 'system', vouches: undefined },
} as const;

type WriteName = keyof typeof WRITES;
type FactsName = keyof typeof FACTS;
type Who = keyof typeof WHO;

const namesOf = <T extends object>(table: T): (keyof T)[] => Object.keys(table) as (keyof T)[]; // they are its keys

/** What the table says: a refusal, `ends` for a claim of another that ends, and `settles` for a merge that no more waits. */
function expected(who: Who, write: WriteName, facts: FactsName): string {
  const isAgent = WHO[who].kind === 'agent';
  if (WHO[who].kind === 'user' && WHO[who].vouches === false && (write === 'checks' || write === 'no checks'))
    return 'checks_kept';
  if (isAgent && (write === 'no checks' || write === 'reviewer')) return 'gates_kept';
  if (isAgent && write === 'to merging') return 'gate_ahead';
  if (isAgent && write === 'done' && (facts === 'unfinished' || facts === 'given up')) return 'gate_ahead';
  const ends = ['done', 'release', 'delete'].includes(write) && who !== 'forge';
  if (ends && isAgent) return 'not_the_owner';
  const isAway = ['to merging', 'done', 'release', 'delete'].includes(write);
  if (isAway && facts === 'landing') return 'landing';
  return [
    'allowed',
    ...(ends ? ['ends nina'] : []),
    ...(isAway && facts === 'landed long ago' ? ['settles m-1'] : []),
  ].join(' ');
}

function decide(who: Who, write: Save, facts: SaveFacts): string {
  const { kind, vouches } = WHO[who];
  const decision = decideSave(write, { facts, saving: { ...deciding(kind), vouches } });
  if (decision.outcome !== 'allowed') return decision.outcome;
  return [
    'allowed',
    ...(decision.former_owner === undefined ? [] : [`ends ${decision.former_owner}`]),
    ...(decision.settles === undefined ? [] : [`settles ${decision.settles}`]),
  ].join(' ');
}

describe('decideSave, the whole table: a task in review that nina has', () => {
  const all = namesOf(WHO).flatMap((who) =>
    namesOf(WRITES).flatMap((write) => namesOf(FACTS).map((facts) => ({ who, write, facts }))),
  );

  it('has 240 rows', () => {
    expect(all).toHaveLength(240);
  });

  it.each(all)('$who, $write, $facts', ({ who, write, facts }) => {
    const save = { before: BEFORE, version: 7, after: WRITES[write](BEFORE) };
    expect(decide(who, save, FACTS[facts])).toBe(expected(who, write, facts));
  });
});

describe('what a happening says besides', () => {
  const release = { before: BEFORE, version: 7, after: WRITES.release(BEFORE) };
  it.each([
    ['by force', { forced: true }, 'allowed ends nina'],
    ['as a claim that was given', { claimed: true }, 'allowed ends nina'],
    ['by Forge on the way', { triggered_by: 'system' }, 'allowed'],
    ['neither', { forced: false, claimed: false }, 'not_the_owner'],
  ])('an agent ends the claim of another %s', (_, happening, outcome) => {
    expect(decide('agent', { ...release, happening }, NO_SAVE_FACTS)).toBe(outcome);
  });

  it('a restore brings the checks back that the task had', () => {
    const checked = WRITES.checks(BEFORE) ?? BEFORE;
    const deleted = deleteRecord(BEFORE, NOW);
    expect(decide('token without exec', { before: deleted, version: 7, after: checked }, NO_SAVE_FACTS)).toBe(
      'allowed',
    );
  });

  it('an agent brings the first checks of a task', () => {
    expect(decide('agent', { before: BEFORE, version: 7, after: WRITES.checks(BEFORE) }, NO_SAVE_FACTS)).toBe(
      'allowed',
    );
  });
});

describe('listSaveNeeds names the facts that count, and no others', () => {
  const EXPECTED: Readonly<Record<WriteName, SaveNeeds>> = {
    title: { attempts: false, landing: false, is_worked_on: false },
    checks: { attempts: false, landing: false, is_worked_on: false },
    'no checks': { attempts: false, landing: false, is_worked_on: false },
    reviewer: { attempts: false, landing: false, is_worked_on: false },
    'to merging': { attempts: true, landing: true, is_worked_on: false },
    done: { attempts: true, landing: true, is_worked_on: false },
    release: { attempts: false, landing: true, is_worked_on: false },
    delete: { attempts: false, landing: true, is_worked_on: false },
  };

  it.each(namesOf(WRITES))('%s', (write) => {
    const save = { before: BEFORE, version: 7, after: WRITES[write](BEFORE) };
    expect(listSaveNeeds(save, deciding('agent'))).toEqual(EXPECTED[write]);
    expect(listSaveNeeds(save, deciding('user'))).toEqual({ ...EXPECTED[write], attempts: false });
  });
});

describe('a refusal tells who was refused, and why', () => {
  it.each([
    ['token without exec', 'checks', 'none', { outcome: 'checks_kept', actor: 'me' }],
    [
      'agent',
      'reviewer',
      'none',
      { outcome: 'gates_kept', actor: 'me', why: 'who holds reviewer is for a person to say' },
    ],
    [
      'agent',
      'done',
      'unfinished',
      {
        outcome: 'gate_ahead',
        actor: 'me',
        to: 'done',
        gate: 'review',
        why: 'its attempt has not gone through review',
      },
    ],
  ] as const)('%s, %s, %s', (who, write, facts, refusal) => {
    const save = { before: BEFORE, version: 7, after: WRITES[write](BEFORE) };
    const { kind, vouches } = WHO[who];
    const saving = { ...deciding(kind), vouches };
    expect(decideSave(save, { facts: FACTS[facts], saving })).toEqual(refusal);
  });
});

describe('what is told of a save that ends the claim of another', () => {
  const happening = { type: 'task.released', changed: [], more: { kept: 1 } };
  it.each([
    ['nothing where none ends', happening, undefined, happening],
    ['whose it was', happening, 'nina', { ...happening, more: { kept: 1, former_owner: 'nina' } }],
    [
      'that it was forced',
      { ...happening, forced: true },
      'nina',
      { ...happening, forced: true, more: { kept: 1, former_owner: 'nina', forced: true } },
    ],
    [
      'not that it was forced where it was not',
      { ...happening, forced: false },
      'nina',
      { ...happening, forced: false, more: { kept: 1, former_owner: 'nina' } },
    ],
  ])('%s', (_, before, owner, after) => {
    expect(tellFormer(before, owner)).toEqual(after);
  });
});

describe('a writer that runs the hooks of its moves', () => {
  const saving = { ...deciding('user'), runner: { starts: new Set<string>() } };
  const save = (write: WriteName): Save => ({ before: BEFORE, version: 7, after: WRITES[write](BEFORE) });
  const decided = (write: WriteName, is_worked_on: boolean): string =>
    decideSave(save(write), { facts: { ...NO_SAVE_FACTS, is_worked_on }, saving }).outcome;

  it.each([
    ['release', true, 'check_first'],
    ['release', false, 'allowed'],
    ['title', true, 'allowed'],
    ['delete', true, 'allowed'],
  ] as const)('%s, worked on: %s: %s', (write, is_worked_on, outcome) => {
    expect(decided(write, is_worked_on)).toBe(outcome);
  });

  it.each([
    ['release', true],
    ['title', false],
    ['delete', false],
  ] as const)('who is at work counts for a %s: %s', (write, counts) => {
    expect(listSaveNeeds(save(write), saving).is_worked_on).toBe(counts);
  });
});
