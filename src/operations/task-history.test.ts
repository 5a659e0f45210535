import { expect, test } from 'vitest';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { taskHistory } from './task-history.ts';
import { taskTransitions } from './task-transitions.ts';
import type { OperationContext } from './operation.ts';

const { history_entries: most, history_bytes: max_bytes } = SERVED_LIMITS;

test.each([
  ['a server, unasked', { stays: true, limit: undefined }, most],
  ['a server, for very many', { stays: true, limit: most + 1 }, most],
  ['a server, for few', { stays: true, limit: 7 }, 7],
  ['a command', { stays: false, limit: undefined }, undefined],
  ['a command, for very many', { stays: false, limit: most + 1 }, most + 1],
])('%s reads a history as far as it should', async (_who, { stays, limit }, expected) => {
  const asked: object[] = [];
  const note = async (query: object) => {
    asked.push(query);
    return [];
  };
  const store = { readHistory: note, listTransitions: note };
  const ctx = { project: { store }, stays } as unknown as OperationContext;
  await taskHistory.run(ctx, { id: 'fg-a', limit });
  await taskTransitions.run(ctx, { id: 'fg-a', limit });
  expect(asked).toEqual([
    { id: 'fg-a', limit: expected, ...(stays && { max_bytes }) },
    { id: 'fg-a', limit: expected },
  ]);
});
