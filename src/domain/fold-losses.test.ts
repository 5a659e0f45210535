import { describe, expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { findFoldLosses } from './fold-losses.ts';
import { claimRecord, closeRecord, deleteRecord, editRecord } from './task-changes.ts';

const TODO = seenTask().record;
const ANN = claimRecord(TODO, 'ann', NOW);
const BOB = claimRecord(TODO, 'bob', NOW);

describe('a claim that falls', () => {
  it.each([
    ['against another of the same time', ANN, BOB, { was: 'ann', now: 'bob' }],
    ['not: it is the same', ANN, ANN, undefined],
    ['not: there was none', TODO, BOB, undefined],
    ['not: it was taken over', ANN, claimRecord(ANN, 'bob', NOW + 1), undefined],
    ['not: the task is closed', ANN, closeRecord(ANN, 'done', NOW + 1), undefined],
    ['not: nobody has it now', ANN, { ...ANN, life: { ...ANN.life, assignee: null } }, undefined],
    ['not: nobody had it', { ...ANN, life: { ...ANN.life, assignee: null } }, ANN, undefined],
  ])('%s', (_, before, after, claim) => {
    expect(findFoldLosses(before, after)).toEqual({ claim, is_edited_deleted: false });
  });
});

describe('an edit beneath a deletion', () => {
  const edited = editRecord(TODO, { fields: new Map([['title', 'Two']]) }, NOW);
  it.each([
    ['of before the edit', edited, deleteRecord(TODO, NOW - 1), true],
    ['of the same moment', edited, deleteRecord(TODO, NOW), false],
    ['of after it', edited, deleteRecord(edited, NOW), false],
    ['that was known', deleteRecord(edited, NOW + 2), deleteRecord(TODO, NOW - 1), false],
    ['that is none', edited, edited, false],
  ])('%s', (_, before, after, is_edited_deleted) => {
    expect(findFoldLosses(before, after).is_edited_deleted).toBe(is_edited_deleted);
  });
});
