import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { isHeldBy } from '#domain/task-holding.ts';
import { judgeAgentCall } from './judge-agent-call.ts';

const ID = 'fg-a3f8';

describe('what an agent may do with its token', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['task.create', { title: 'x' }, 'allowed'],
    ['task.create', { title: 'x', assignee: 'worker-1' }, 'allowed'],
    ['task.create', { title: 'x', assignee: 'worker-2' }, 'refused'],
    ['task.create', { title: 'x', review_config: { ci_steps: ['curl evil'] } }, 'refused'],
    ['task.create', { title: 'x', review_config: { review_prompt: 'pass it' } }, 'refused'],
    ['task.claim', { id: ID, overrides: null }, 'allowed'],
    ['task.claim', { id: ID, overrides: { model: 'x' } }, 'refused'],
    ['task.update', { id: ID, review_config: { ci_steps: [] } }, 'refused'],
    ['task.update', { id: ID, review_config: null }, 'refused'],
    ['agent.add', { name: 'worker-1', executor: 'shell', command: ['sh'] }, 'refused'],
    ['profile.add', { name: 'p', executor: 'claude' }, 'refused'],
    ['project.trust', { yes: true }, 'refused'],
    ['task.claim', { id: ID }, 'allowed'],
    ['task.claim', { next: true }, 'allowed'],
    ['task.claim', { id: ID, assignee: 'worker-1' }, 'allowed'],
    ['task.claim', { id: ID, assignee: 'worker-2' }, 'refused'],
    ['task.claim', { id: ID, agent_id: 'worker-2' }, 'refused'],
    ['task.claim', { id: ID, force: true }, 'refused'],
    ['task.claim', { id: ID, force: false }, 'allowed'],
    ['task.release', { id: ID }, 'if_holder'],
    ['task.release', { id: ID, force: true }, 'refused'],
    ['task.close', { id: ID, reason: 'done' }, 'if_holder'],
    ['task.close', { id: ID, reason: 'done', force: true }, 'refused'],
    ['task.reopen', { id: ID }, 'if_holder'],
    ['task.comment', { id: ID, body: 'x' }, 'if_holder'],
    ['task.transition', { id: ID, state: 'review' }, 'if_holder'],
    ['task.cancel', { id: ID }, 'if_holder'],
    ['task.heartbeat', { id: ID }, 'if_holder'],
    ['task.review', { id: ID, verdict: 'pass' }, 'if_holder'],
    ['task.review', { id: ID, verdict: 'pass', force: true }, 'refused'],
    ['task.update', { id: ID, title: 'x' }, 'if_holder'],
    ['task.update', { id: ID, assignee: null }, 'if_holder'],
    ['task.update', { id: ID, assignee: 'worker-2' }, 'refused'],
    ['task.update', { title: 'x' }, 'refused'],
    ['dep.add', { from_id: ID, to_id: 'fg-b' }, 'if_holder'],
    ['dep.add', { from_id: ID, to_id: 'fg-b', force: true }, 'refused'],
    ['dep.remove', { from_id: ID, to_id: 'fg-b' }, 'if_holder'],
    ['task.delete', { id: ID }, 'refused'],
    ['task.restore', { id: ID }, 'refused'],
    ['task.assign', { id: ID, role: 'reviewer' }, 'refused'],
    ['task.archive', { id: ID }, 'refused'],
    ['workflow.set', {}, 'refused'],
    ['agent.pause', { name: 'worker-2' }, 'refused'],
    ['agent.add', { name: 'worker-3' }, 'refused'],
    ['project.pause', {}, 'refused'],
    ['project.resume', {}, 'refused'],
    ['token.create', { scope: 'admin' }, 'refused'],
    ['token.revoke', { id: 'x' }, 'refused'],
    ['batch.create', { name: 'x' }, 'refused'],
    ['run.stop', { id: '7c1e' }, 'refused'],
    ['run.approve', { id: '7c1e' }, 'refused'],
    ['run.deny', { id: '7c1e' }, 'refused'],
    ['run.forget', { id: '7c1e' }, 'refused'],
    ['run.send', { id: '7c1e', text: 'x' }, 'refused'],
    ['workspace.clean', { all: true }, 'refused'],
    ['workspace.rescue', { attempt: '35a4', restore: 'x' }, 'refused'],
    ['cli.list', {}, 'refused'],
    ['an.operation.of.tomorrow', {}, 'refused'],
  ])('%s %j: %s', (operation, input, outcome) => {
    // Whatever the scope: an agent with an admin's token is still an agent.
    for (const access of ['task', 'exec', 'admin'] as const) {
      const verdict = judgeAgentCall({ operation, access, input, agent: 'worker-1' });
      // What no agent holds is taken by a claim, or by an update that gives it to the agent.
      const held = outcome === 'if_holder' ? { id: ID, or_free: false } : {};
      expect(verdict).toMatchObject({ outcome, ...held });
    }
  });

  test('every read is allowed', () => {
    for (const { name, access } of OPERATIONS.filter((one) => one.access === 'read'))
      expect(judgeAgentCall({ operation: name, access, input: {}, agent: 'worker-1' }).outcome).toBe(
        'allowed',
      );
  });

  test('an update that takes a task is a claim like any other; one that keeps it for itself may be of a free one', () => {
    const judge = (input: object) =>
      judgeAgentCall({
        operation: 'task.update',
        access: 'task',
        input: { id: ID, ...input },
        agent: 'worker-1',
      });
    expect(judge({ status: 'in_progress', assignee: 'worker-1' })).toEqual({ outcome: 'allowed' });
    expect(judge({ status: 'in_progress', assignee: 'worker-2' }).outcome).toBe('refused');
    expect(judge({ assignee: 'worker-1' })).toEqual({ outcome: 'if_holder', id: ID, or_free: true });
    expect(judge({ status: 'in_progress' })).toEqual({ outcome: 'if_holder', id: ID, or_free: false });
  });

  test.each<[string | null, string[], boolean, boolean]>([
    ['worker-1', [], false, true],
    ['worker-2', [], false, false],
    ['worker-2', [], true, false],
    [null, [], false, false],
    [null, [], true, true],
    [null, ['worker-2'], true, true],
    ['worker-2', ['worker-1'], false, true],
    ['worker-2', ['worker-3'], true, false],
  ])('owner %s, roles %j, also free %s: %s', (assignee, roles, or_free, is) => {
    expect(isHeldBy({ assignee, roles }, 'worker-1', { or_free })).toBe(is);
  });
});
