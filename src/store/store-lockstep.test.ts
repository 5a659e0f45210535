import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { storesAreEqual, type LockstepStore } from './behaviour/lockstep-behaviour.ts';
import { readWork, someWork } from './behaviour/lockstep-work-behaviour.ts';
import { ATTEMPT_METHODS, METHODS } from './sqlite/method-kinds.ts';

/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 120_000 };

describe('the store in memory', LONG, () => {
  it('answers every call as SQLite does, with the same events and the same refusals', async () => {
    const called = new Set<PropertyKey>();
    const property = storesAreEqual(tempStore, () => watched(called));
    await fc.assert(property, { numRuns: 100, seed: 20260210, endOnFailure: true });
    const never = Object.keys(METHODS).filter((name) => !(name in ATTEMPT_METHODS) && !called.has(name));
    expect(never.filter((name) => !ELSEWHERE.includes(name))).toEqual([]);
  });

  it('does so for attempts and all that belongs to them, whichever method is called', async () => {
    const called = new Set<PropertyKey>();
    const lockstep = { acts: someWork, readMore: readWork };
    const property = storesAreEqual(tempStore, () => watched(called), lockstep);
    await fc.assert(property, { numRuns: 60, seed: 20260210, endOnFailure: true });
    const never = Object.keys(ATTEMPT_METHODS).filter((name) => !called.has(name));
    expect(never.filter((name) => !ELSEWHERE.includes(name))).toEqual([]);
  });
});

/** Of file databases alone; what travels, in a suite of its own; and what is no answer but a hint. */
const ELSEWHERE = [
  'restoreAttempts',
  'readFormat',
  'compactReplica',
  'pruneEvents',
  'keepBounded',
  'readKept',
  'diagnose',
  'repair',
  'readUnreadable',
  'readMarks',
  'saveMark',
  'markExported',
  'foldHistory',
  'exportTasks',
  'exportHistory',
  'readChangedTasks',
  'readChangedHistory',
  'listConflicts',
  'pageConflicts',
  'settleConflicts',
  'prune',
  'readStamp',
  'waitFor',
];

/** Notes what is called. */
async function watched(called: Set<PropertyKey>): Promise<LockstepStore> {
  const sut = await memoryStore();
  const store = new Proxy(sut.store, {
    get(target, name) {
      called.add(name);
      return Reflect.get(target, name) as unknown;
    },
  });
  return { store, [Symbol.asyncDispose]: () => sut[Symbol.asyncDispose]() };
}
