import { describe, expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import type { Status } from '#contract/task.ts';
import { DEFAULT_RESOLVED, resolveWorkflow, standingState } from './workflow.ts';

/** None of the usual names but `review`, and that for something else. */
const NEWS: Workflow = {
  states: [
    { name: 'idea', kind: 'backlog', next: ['pitch'] },
    { name: 'pitch', kind: 'initial', next: ['proof', 'draft'] },
    { name: 'proof', kind: 'gate', next: ['printed'] },
    { name: 'draft', kind: 'active', next: ['proof'] },
    { name: 'review', kind: 'terminal' },
    { name: 'printed', kind: 'terminal' },
    { name: 'spiked', kind: 'terminal' },
  ],
  cancellation_state: 'spiked',
};
const NAMED: Workflow = { ...NEWS, status_states: { in_progress: 'proof', closed: 'printed' } };

/** What a line says, what it says when its status is closed, and where the task stands. */
const CASES: readonly (readonly [string, Workflow, Status, string, string | null, string])[] = [
  ['open, and no state', NEWS, 'open', 'todo', null, 'pitch'],
  ['in work, and no state: the first active one', NEWS, 'in_progress', 'in_progress', null, 'draft'],
  ['closed, and no state: the first terminal one', NEWS, 'closed', 'done', 'Done', 'review'],
  ['in work, and the workflow names the state', NAMED, 'in_progress', 'in_progress', null, 'proof'],
  ['closed, and the workflow names the state', NAMED, 'closed', 'done', 'Done', 'printed'],
  ['closed without a reason', NAMED, 'closed', 'done', null, 'printed'],
  ['cancelled', NAMED, 'closed', 'cancelled', 'Cancelled: not now', 'spiked'],
  ['a duplicate', NAMED, 'closed', 'cancelled', 'duplicate of fg-a', 'spiked'],
  ['a state of another workflow', NAMED, 'in_progress', 'merging', null, 'proof'],
  ['a state of its own', NAMED, 'in_progress', 'draft', null, 'draft'],
  ['parked', NAMED, 'open', 'idea', null, 'idea'],
  ['a terminal state of its own', NAMED, 'closed', 'review', 'Done', 'review'],
  ['a state that does not mean the status', NAMED, 'in_progress', 'review', null, 'proof'],
  ['closed in a state of work', NAMED, 'closed', 'draft', 'Done', 'printed'],
  ['open in a terminal state', NAMED, 'open', 'printed', null, 'pitch'],
  ['in work, and parked', NAMED, 'in_progress', 'idea', null, 'proof'],
];

describe('[S58] where a task stands by its line', () => {
  it.each(CASES)('%s', (_name, workflow, status, state, close_reason, stands) => {
    const resolved = resolveWorkflow(workflow);
    expect(standingState(resolved, { status, state, close_reason })).toBe(stands);
    expect(resolved.states.has(stands)).toBe(true);
  });

  it.each([
    ['open', null, 'todo'],
    ['in_progress', null, 'in_progress'],
    ['closed', 'Done', 'done'],
    ['closed', 'wontfix', 'cancelled'],
  ] as const)('%s (%s) is %s in the built-in workflow', (status, close_reason, stands) => {
    const life = { status, state: 'of-another', close_reason };
    expect(standingState(DEFAULT_RESOLVED, life)).toBe(stands);
  });
});
