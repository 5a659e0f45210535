import { LIMITS } from '#kernel/limits.ts';
import { describe, expect, it } from 'vitest';
import type { Approval, Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { listWaiting, PROPOSED_LABEL, toProposed, type WaitingFacts } from './list-waiting.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** Only what is looked at. */
const task = (state: string, more: Partial<Task> = {}): Task =>
  ({ id: 'fg-a', title: 'A', status: 'in_progress', state, assignee: 'w1', ...more }) as Task;

const because = (code: string, message = 'why'): Partial<Task> => ({
  error_annotation: { code, message, at: AT },
});

function list(tasks: readonly Task[], more: Partial<WaitingFacts> = {}): readonly string[] {
  const facts = {
    tasks,
    titles: new Map(tasks.map(({ id, title }) => [id, title])),
    reviews: [],
    approvals: [],
    at_work: new Set<string>(),
    known: new Map(),
    unmerged: [],
    ...more,
  };
  return listWaiting(DEFAULT_RESOLVED, facts).map(
    ({ kind, message, command }) => `${kind}: ${message}; ${command}`,
  );
}

const waiting = [{ task_id: 'fg-a', status: 'waiting', started_at: AT } as Review];

describe('what waits for a person', () => {
  it.each([
    ['a blocked task', task('blocked', because('run_failed')), 'stuck: why; forge task transition fg-a todo'],
    [
      'a task that a person blocked',
      task('blocked'),
      'stuck: it is in blocked; forge task transition fg-a todo',
    ],
    [
      'a merge that failed',
      task('merge_failed', because('no_attempt')),
      'stuck: why; forge task transition fg-a in_progress',
    ],
    [
      'a merge that met a conflict',
      task('merge_failed', because('merge_conflict')),
      'stuck: why; forge run fg-a --agent w1 --merge',
    ],
    [
      'a merge whose checks failed, of nobody',
      task('merge_failed', { ...because('merge_ci_failed'), assignee: null }),
      'stuck: why; forge task transition fg-a in_progress',
    ],
    [
      'a merge that was refused',
      task('merge_failed', because('merge_refused')),
      'stuck: why; forge run fg-a --merge',
    ],
    [
      'a conflict that a person put aside',
      task('blocked', because('merge_conflict')),
      'stuck: why; forge task transition fg-a todo',
    ],
    [
      'a run that was stopped',
      task('in_progress', because('stopped')),
      'stuck: why; forge run fg-a --agent w1',
    ],
    [
      'a run that reached a cap',
      task('in_progress', because('cap_reached', 'Too much; to raise it: forge settings set caps.run_usd 2')),
      'stuck: Too much; forge settings set caps.run_usd 2',
    ],
    [
      'a postponed merge',
      task('merge_failed', because('merge_postponed')),
      'postponed: why; forge run fg-a --merge',
    ],
    [
      'a task at work that nobody has',
      task('in_progress', { assignee: null }),
      'stuck: it is in in_progress, and nobody has it; forge claim fg-a',
    ],
    ['a pick', task('in_progress', because('pick_attempt')), 'pick: why; forge attempt compare fg-a'],
    [
      'no green attempt',
      task('in_progress', because('no_green_attempt')),
      'pick: why; forge attempt compare fg-a',
    ],
    [
      'work that passed',
      task('review', { review_passed_at: AT }),
      'merge: it passed in review; forge run fg-a --merge',
    ],
  ])('is %s', (_, one, shown) => {
    expect(list([one])).toEqual([shown]);
    // A process that works on it leads it on.
    expect(list([one], { at_work: new Set(['fg-a']) })).toEqual([]);
  });

  it('is a merge that failed, with the agent that Forge can start, and without one where a person has the task', () => {
    const shown = (assignee: string | null, worker: string | null) =>
      list([task('merge_failed', { ...because('merge_conflict'), assignee })], {
        known: new Map([['fg-a', { worker }]]),
      });
    expect(shown('w1', 'w1')).toEqual(['stuck: why; forge run fg-a --agent w1 --merge']);
    expect(shown(null, 'w2')).toEqual(['stuck: why; forge run fg-a --agent w2 --merge']);
    expect(shown('Nina New', null)).toEqual(['stuck: why; forge task transition fg-a in_progress']);
  });

  it('is work that was broken off, with what takes it up, and no open task without work', () => {
    const open = task('todo', {
      status: 'open',
      assignee: null,
      ...because('run_failed', 'Forge was stopped'),
    });
    const left = (managed: boolean) => ({
      known: new Map([['fg-a', { unfinished: { agent: 'w1', branch: 'forge/b', path: '/w/b', managed } }]]),
    });
    const work = 'unfinished work is on forge/b, in /w/b';
    expect(list([open], left(true))).toEqual([
      `stuck: Forge was stopped; ${work}; forge run fg-a --agent w1 --merge`,
    ]);
    const silent = task('todo', { status: 'open', assignee: null });
    expect(list([silent], left(false))).toEqual([`stuck: it is in todo; ${work}; forge claim fg-a`]);
    expect(list([open, silent])).toEqual([]);
    expect(list([open], { ...left(true), at_work: new Set(['fg-a']) })).toEqual([]);
  });

  it('is a task that was parked because of a failure, and no other that is parked', () => {
    const parked = task('backlog', { status: 'open', assignee: null });
    expect(list([parked])).toEqual([]);
    expect(list([{ ...parked, ...because('run_failed') }])).toEqual([
      'stuck: why; forge task transition fg-a todo',
    ]);
    expect(list([parked], { known: new Map([['fg-a', { parked_by: 'worker-1' }]]) })).toEqual([
      'stuck: worker-1 put it into backlog; forge task transition fg-a todo',
    ]);
  });

  it('is work that stands still, with what starts it again', () => {
    const known = (managed: boolean, why: 'came_back' | 'lost_claim' = 'came_back') => ({
      known: new Map([['fg-a', { halted: { agent: 'w1', managed, why } }]]),
    });
    const one = task('in_progress');
    expect(list([one], known(true))).toEqual([
      'stuck: it is in in_progress, and w1 is not at work on it; forge run fg-a --agent w1 --merge',
    ]);
    expect(list([one], known(true, 'lost_claim'))).toEqual([
      'stuck: it is in in_progress, and w1 is not at work on it: it was deleted and restored during its run, or claimed anew, and the run was ended; forge run fg-a --agent w1 --merge',
    ]);
    expect(list([one], known(false))).toEqual([
      'stuck: it is in in_progress, and w1, who worked on it, is not an agent that Forge starts here; forge task transition fg-a todo',
    ]);
    expect(list([one], { ...known(true), at_work: new Set(['fg-a']) })).toEqual([]);
  });

  it('is trust, as long as it is missing, and then the way on', () => {
    const one = task('blocked', because('untrusted', 'Nobody has trusted this command here: npm test'));
    const known = (untrusted: boolean) => ({ known: new Map([['fg-a', { untrusted }]]) });
    expect(list([one], known(true))).toEqual([
      'stuck: Nobody has trusted this command here: npm test; forge trust',
    ]);
    expect(list([one], known(false))).toEqual([
      'stuck: its commands are trusted now, and were not when they were to run; forge task transition fg-a todo',
    ]);
  });

  it('is a review that waits for its holder', () => {
    const one = task('review', { roles: { reviewer: { user: 'ann' } } });
    expect(list([one], { reviews: waiting })).toEqual([
      'review: its review waits for the word of ann; forge review fg-a pass',
    ]);
  });

  it.each([
    ['a task at work', task('in_progress')],
    ['a task in a gate that says nothing yet', task('review')],
    ['one whose auditor is suspended', task('review', because('auditor_suspended'))],
    ['a task that is merged', task('merging', { review_passed_at: AT })],
  ])('is not %s', (_, one) => {
    expect(list([one])).toEqual([]);
  });

  it('is what an agent asks for, with all of it, also while it works', () => {
    const command = `npm test -- --watch=false ${'x'.repeat(LIMITS.inbox_message_length)}`;
    const approval = {
      run_id: '7c1e40d2-rest',
      task_id: 'fg-a',
      tool: 'Bash',
      input: { command },
      command,
      paths: [],
      asked_at: AT,
    } as unknown as Approval;
    const more = { approvals: [{ ...approval, agent: 'ada' }], at_work: new Set(['fg-a']) };
    expect(list([task('in_progress')], more)).toEqual([
      `approval: ada asks for Bash: ${command}; forge runs approve 7c1e40d2`,
    ]);
    const edit = { ...approval, tool: 'Write', command: null, paths: ['/tmp/a.txt'], agent: 'ada' };
    expect(list([task('in_progress')], { ...more, approvals: [edit] })).toEqual([
      'approval: ada asks for Write /tmp/a.txt; forge runs approve 7c1e40d2',
    ]);
  });

  it('[B7] is work that is not merged of a task that was closed elsewhere as done', () => {
    const attempt = { branch: 'forge/a-1', target: 'main' };
    const done = task('done', { status: 'closed', closed_at: AT });
    expect(list([], { unmerged: [{ task: done, attempt }] })).toEqual([
      'stuck: it was closed elsewhere, and its work on forge/a-1 is not in main; forge task reopen fg-a',
    ]);
    const cancelled = task('cancelled', { status: 'closed', closed_at: AT });
    expect(list([], { unmerged: [{ task: cancelled, attempt }] })).toEqual([]);
  });
});

describe('tasks that agents propose', () => {
  const labels = [PROPOSED_LABEL];
  const parked = (id: string, more: Partial<Task> = {}): Task =>
    task('backlog', { id, status: 'open', labels, created_by: 'ada', created_at: AT, ...more });

  it('are one item, however many', () => {
    expect(toProposed(DEFAULT_RESOLVED, { first: parked('fg-a'), tasks: 2 })).toMatchObject({
      kind: 'proposed',
      task_id: null,
      message: 'agents propose 2 tasks; the first goes by forge task transition fg-a todo',
      command: 'forge task list --state backlog --label proposed-by-agent',
    });
    expect(toProposed(DEFAULT_RESOLVED, { first: parked('fg-a'), tasks: 1 })).toMatchObject({
      task_id: 'fg-a',
      command: 'forge task transition fg-a todo',
    });
  });
});
