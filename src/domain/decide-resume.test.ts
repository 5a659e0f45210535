import { describe, expect, it } from 'vitest';
import type { Attempt, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { decideResume, type LostTask } from './decide-resume.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

const attempt = (id: string, state: Attempt['state'] = 'active'): Attempt => ({ id, state }) as Attempt;

const run = (attempt_id: string, outcome: Run['outcome'], ended = 3): Run =>
  ({
    id: `run of ${attempt_id}`,
    attempt_id,
    role: 'coder',
    state: outcome === null ? 'running' : outcome === 'completed' ? 'completed' : 'failed',
    outcome,
    created_at: at(2),
    ended_at: outcome === null ? null : at(ended),
  }) as Run;

function decide(more: Partial<LostTask>, annotation?: { code: string; at: string }): object {
  const error_annotation = annotation && { ...annotation, message: '' };
  // Only what is looked at: the rest of a task has no say in it.
  const task = { status: 'in_progress', state: 'in_progress', error_annotation } as Task;
  return decideResume(DEFAULT_RESOLVED, {
    task,
    entered_at: at(1),
    was_starting: true,
    leads_on: false,
    holder: { kind: 'none' },
    attempts: [attempt('a'), attempt('b')],
    runs: [],
    reviews: [],
    merges: [],
    ...more,
  });
}

describe('a task with several attempts that nobody goes on with', () => {
  it('is compared when all runs have ended, or none was begun', () => {
    expect(decide({ runs: [run('a', 'completed'), run('b', 'crashed')] })).toEqual({ step: 'compare' });
    expect(decide({ runs: [run('a', 'completed'), run('b', null)] })).toEqual({ step: 'none' });
    expect(decide({})).toEqual({ step: 'compare' });
    expect(decide({ was_starting: false })).toEqual({ step: 'none' });
  });

  it('waits for whoever is to choose, unless something was done since', () => {
    const runs = [run('a', 'completed'), run('b', 'failed')];
    for (const code of ['pick_attempt', 'no_green_attempt', 'stopped']) {
      expect(decide({ runs }, { code, at: at(4) })).toEqual({ step: 'none' });
      expect(decide({ runs }, { code, at: at(2) })).toEqual({ step: 'compare' });
    }
    expect(decide({ runs }, { code: 'picked', at: at(4) })).toEqual({ step: 'compare' });
  });

  it('goes on with the run of the one that was picked, whatever became of the others', () => {
    const runs = [run('a', 'completed'), run('b', 'failed')];
    const attempts = [attempt('a'), attempt('b', 'archived')];
    expect(decide({ runs, attempts })).toEqual({ step: 'conclude', run: runs[0] });
  });
});
