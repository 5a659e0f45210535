import { describe, expect, it } from 'vitest';
import { mapStatus } from './map-states.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const map = (status: 'open' | 'in_progress' | 'closed', to: string): string =>
  mapStatus({ id: 'fg-1', status }, { from: 'old', to }, DEFAULT_RESOLVED);

describe('a state that takes the tasks of another', () => {
  it.each([
    ['open', 'todo', 'open'],
    ['open', 'backlog', 'open'],
    ['in_progress', 'review', 'in_progress'],
    ['in_progress', 'todo', 'open'],
    ['closed', 'done', 'closed'],
    ['closed', 'cancelled', 'closed'],
  ] as const)('keeps what is %s where it is %s: it is %s', (status, to, after) => {
    expect(map(status, to)).toBe(after);
  });

  it.each([
    ['open', 'in_progress'],
    ['open', 'done'],
    ['in_progress', 'done'],
    ['closed', 'todo'],
    ['closed', 'review'],
  ] as const)('is refused for what is %s where it is %s', (status, to) => {
    expect(() => map(status, to)).toThrow(`old cannot become ${to}: fg-1 is ${status}`);
  });
});
