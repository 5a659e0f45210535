import type { Approval, Attempt, Merge, Review } from '#contract/attempt.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import type { KeptRun } from '#domain/decide-run.ts';

/** Rows about one attempt, as decisions see them; a test says what is not plain. */
const AT = '2026-02-10T08:00:00.000Z';

export function keptRun(more: Partial<KeptRun> = {}): KeptRun {
  return {
    id: 'r-1',
    task_id: 'fg-a1b2',
    attempt_id: 'a-1',
    role: 'coder',
    agent: 'bot',
    executor: 'shell',
    fence: 3,
    in_state: 'in_progress',
    state: 'running',
    outcome: null,
    message: null,
    session_id: null,
    process: null,
    watcher: null,
    beat_at: null,
    stop_asked_at: null,
    usage: NO_USAGE,
    retry_after: null,
    created_at: AT,
    started_at: AT,
    ended_at: null,
    ...more,
  };
}

export function keptMerge(more: Partial<Merge> = {}): Merge {
  return {
    id: 'm-1',
    task_id: 'fg-a1b2',
    attempt_id: 'a-1',
    target: 'main',
    strategy: 'merge',
    state: 'started',
    head_commit: 'c0ffee',
    candidate: null,
    conflicts: [],
    message: null,
    queued_at: AT,
    finished_at: null,
    ...more,
  };
}

export function keptReview(more: Partial<Review> = {}): Review {
  return {
    id: 'v-1',
    task_id: 'fg-a1b2',
    attempt_id: 'a-1',
    attempt_number: 1,
    status: 'running',
    head_commit: 'c0ffee',
    step_results: [],
    verdict: null,
    verdict_by: null,
    run_id: null,
    cleared_at: null,
    started_at: AT,
    finished_at: null,
    ...more,
  };
}

export function keptApproval(more: Partial<Approval> = {}): Approval {
  return {
    id: 'p-1',
    run_id: 'r-1',
    task_id: 'fg-a1b2',
    tool: 'Bash',
    input: null,
    command: 'make',
    paths: [],
    state: 'pending',
    asked_at: AT,
    answered_at: null,
    answered_by: null,
    reason: null,
    always: null,
    forgotten_at: null,
    ...more,
  };
}

export function keptAttempt(more: Partial<Attempt> = {}): Attempt {
  return {
    id: 'a-1',
    task_id: 'fg-a1b2',
    number: 1,
    name: 'a1b2-one',
    branch: 'forge/a1b2-one',
    path: '/w/a1b2-one',
    target: 'main',
    base_commit: 'ba5e',
    head_commit: null,
    agent: 'bot',
    state: 'active',
    port: 4100,
    pick: null,
    strayed: null,
    merge_commit: null,
    created_at: AT,
    finished_at: null,
    cleanup_at: null,
    removed_at: null,
    ...more,
  };
}
