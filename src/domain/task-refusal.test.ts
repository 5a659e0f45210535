import { describe, expect, it } from 'vitest';
import { seenTask } from '../../tests/support/seen-task.ts';
import { explainTaskRefusal, type TaskRefusal } from './task-refusal.ts';

const ATTEMPT = { id: 'a-1', name: 'a1b2-one' };

describe('every refusal is told by its code, the id, and the command to type next', () => {
  const EXPECTED: readonly [TaskRefusal, code: string, message: string, hint: string | undefined][] = [
    [
      { outcome: 'other_version', asked: 6 },
      'version_conflict',
      'fg-a1b2 has version 7, not 6: somebody changed it',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'other_claim', asked: 2 },
      'fence_conflict',
      'The claim 2 of fg-a1b2 is over; ann has it now',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'not_claimed' },
      'state_invalid',
      'fg-a1b2 is in_progress; only a claimed task can be released',
      undefined,
    ],
    [
      { outcome: 'not_the_owner', owner: 'bob', next: 'release' },
      'claim_conflict',
      'fg-a1b2 belongs to ann, not to bob',
      'forge release fg-a1b2 --force',
    ],
    [
      { outcome: 'not_the_owner', owner: 'bob', next: 'close' },
      'claim_conflict',
      'fg-a1b2 belongs to ann, not to bob',
      'forge task close fg-a1b2 --force --reason "…"',
    ],
    [
      { outcome: 'not_the_owner', owner: 'bob', next: 'claim' },
      'claim_conflict',
      'fg-a1b2 belongs to ann, not to bob',
      'forge claim fg-a1b2 --force',
    ],
    [
      { outcome: 'not_held', agent: 'bot' },
      'permission_denied',
      "fg-a1b2 is not bot's: an agent changes only tasks that it holds",
      'forge claim --next',
    ],
    [
      { outcome: 'nothing_lost', field: undefined, names: [] },
      'not_found',
      'fg-a1b2 has no value that lost a merge',
      'forge conflicts',
    ],
    [
      { outcome: 'nothing_lost', field: 'title', names: ['x'] },
      'not_found',
      'fg-a1b2 has no value of title that lost a merge',
      'forge conflicts',
    ],
    [
      { outcome: 'no_dependency', to: 'fg-2', type: undefined },
      'not_found',
      'fg-a1b2 has no dependency on fg-2',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'checks_kept', actor: 'bob' },
      'permission_denied',
      'bob cannot change the checks of fg-a1b2: they become commands, which needs a token with the scope exec',
      'forge token create --scope exec',
    ],
    [
      { outcome: 'gates_kept', actor: 'bob', why: 'no' },
      'permission_denied',
      'bob cannot change fg-a1b2: no',
      'forge task comment fg-a1b2 "…"',
    ],
    [
      { outcome: 'gate_ahead', actor: 'bob', to: 'done', gate: 'review', why: 'no' },
      'permission_denied',
      'bob cannot move fg-a1b2 to done: no',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'in_gate' },
      'state_invalid',
      'fg-a1b2 is in review; nobody is at work on it',
      'forge release fg-a1b2 --force',
    ],
    [{ outcome: 'not_closed' }, 'state_invalid', 'fg-a1b2 is not closed; it is in_progress', undefined],
    [
      {
        outcome: 'no_edge',
        from: 'review',
        to: 'todo',
        next: ['merging'],
        is_known: true,
        is_closing: false,
      },
      'state_invalid',
      'fg-a1b2 cannot go from review to todo',
      'forge task transition fg-a1b2 merging',
    ],
    [
      { outcome: 'no_edge', from: 'review', to: 'x', next: [], is_known: false, is_closing: false },
      'state_invalid',
      'The workflow has no state x',
      'forge workflow show',
    ],
    [
      { outcome: 'no_edge', from: 'review', to: 'done', next: ['merging'], is_known: true, is_closing: true },
      'state_invalid',
      'fg-a1b2 cannot go from review to done',
      'forge task close fg-a1b2 --reason "…"',
    ],
    [
      {
        outcome: 'no_edge',
        from: 'cancelled',
        to: 'cancelled',
        next: ['todo'],
        is_known: true,
        is_closing: false,
      },
      'state_invalid',
      'fg-a1b2 is in cancelled already',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'not_landed', to: 'done', attempt: ATTEMPT },
      'state_invalid',
      'fg-a1b2 is not done: a1b2-one has not been merged',
      'forge run fg-a1b2 --merge',
    ],
    [
      { outcome: 'unfinished', attempt: ATTEMPT },
      'state_invalid',
      'fg-a1b2 has an unfinished attempt: a1b2-one (a-1)',
      'forge task close fg-a1b2 --force --reason "…"',
    ],
    [
      { outcome: 'landing', merge: 'm-1' },
      'state_invalid',
      'fg-a1b2 is being merged at this moment',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'kept_parked_in', state: 'backlog' },
      'permission_denied',
      'fg-a1b2 is parked in backlog: only a person can put it into the queue',
      'forge claim --next',
    ],
    [
      { outcome: 'no_comment', comment: 'c-1' },
      'not_found',
      'No comment c-1 on fg-a1b2',
      'forge task show fg-a1b2',
    ],
    [
      { outcome: 'no_lease', fence: 3 },
      'state_invalid',
      'The claim 3 of fg-a1b2 has no lease to renew',
      'forge claim fg-a1b2 --lease 60',
    ],
    [
      { outcome: 'refused', why: 'it is closed', next: 'reopen' },
      'state_invalid',
      'fg-a1b2 cannot be changed that way: it is closed',
      'forge task reopen fg-a1b2',
    ],
    [{ outcome: 'taken', owner: 'ann' }, 'claim_conflict', 'fg-a1b2 belongs to ann', 'forge claim --next'],
    [{ outcome: 'blocked' }, 'dependency_gate', 'fg-a1b2 waits for fg-1, fg-2', 'forge dep tree fg-a1b2'],
    [
      { outcome: 'project_paused' },
      'project_paused',
      'The project is paused; people may claim, agents may not',
      'forge project resume',
    ],
  ];

  it.each(EXPECTED)('$outcome', (refusal, code, message, hint) => {
    const task = seenTask({ state: 'review', owner: 'ann' });
    const blockers = [{ id: 'fg-1' }, { id: 'fg-2' }];
    const error = explainTaskRefusal(task, refusal, { blockers });
    expect({ code: error.code, message: error.message, hint: error.hint }).toEqual({ code, message, hint });
  });
});
