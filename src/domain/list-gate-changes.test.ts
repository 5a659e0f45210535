import { describe, expect, it } from 'vitest';
import { listGateChanges } from './list-gate-changes.ts';
import { decodeRecord } from './record-codec.ts';

const TASK = {
  id: 'fg-1',
  title: 'One',
  status: 'open',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  created_by: 'ann',
};
const GATED = { ...TASK, review_config: { ci_steps: ['true'] }, 'role:reviewer': { user: 'ann' } };

describe('[H4] what changes how a task is judged', () => {
  it('is named, and nothing else', () => {
    const changes = (before: typeof TASK, after: typeof TASK): string[] =>
      listGateChanges(decodeRecord(before), decodeRecord(after));
    expect(changes(GATED, TASK)).toEqual(['checks', 'reviewer']);
    expect(changes(TASK, GATED)).toEqual(['checks', 'reviewer']);
    expect(changes(TASK, { ...TASK, status: 'in_progress' })).toEqual(['status']);
    expect(changes(GATED, { ...GATED, title: 'Two' })).toEqual([]);
  });
});
