import { describe, expect, it } from 'vitest';
import { composeFollowUp, composePrompt } from './compose-prompt.ts';

const task = {
  id: 'fg-a3f8',
  title: 'Add rate limiting',
  description: 'Per IP.\n\n## Acceptance Criteria\n- the sixth request gets 429',
};
const step = {
  command: 'npm test',
  exit_code: 1,
  duration_ms: 12,
  output: 'expected 429\n```\ngot 200\n```',
  outcome: 'failed',
} as const;

describe('what an agent is told', () => {
  it('[S26] [S336] is the whole description, with what says when it is done', () => {
    const prompt = composePrompt({ task, role: 'coder', branch: 'forge/35a4-x', earlier: {} });
    expect(prompt).toContain('# Add rate limiting');
    expect(prompt).toContain(task.description);
    expect(prompt).toContain('fg-a3f8');
    expect(prompt).toContain('forge/35a4-x');
  });

  it('holds the template of the role, where there is one', () => {
    const facts = { task, role: 'coder', branch: 'b', template: 'Write a test first.', earlier: {} };
    expect(composePrompt(facts)).toContain('Write a test first.');
  });

  it('tells what failed, in a fence that the output cannot end', () => {
    const text = composeFollowUp({ failed_step: step });
    expect(text).toContain('`npm test` ended with 1');
    expect(text).toContain('````\nexpected 429\n```\ngot 200\n```\n````');
  });

  it('tells findings, conflicts and what people said', () => {
    const text = composeFollowUp({
      verdict: {
        verdict: 'reject',
        summary: 'not safe',
        findings: [{ severity: 'major', file: 'a.ts', line: 3, message: 'no check' }],
      },
      conflicts: [{ path: 'b.ts', kind: 'content' }],
      target: 'main',
      messages: [{ author: 'user:ann', body: 'use the old table' }],
    });
    expect(text).toContain('- major a.ts:3: no check');
    expect(text).toContain('conflicts with main');
    expect(text).toContain('- b.ts (content)');
    expect(text).toContain('user:ann says:\nuse the old table');
  });

  it('never says nothing', () => {
    expect(composeFollowUp({})).toBe('Go on with the task.');
  });
});

describe('[A8] what a person changed between two runs', () => {
  it('reaches a conversation that goes on', () => {
    const edited = { id: 'fg-1', title: 'Now in blue', description: 'Not red.', metadata: {} };
    const comments = [{ author: 'ann', body: 'Mind the hue' }];
    const text = composeFollowUp({ edited, comments, last_error: 'red' });
    expect(text).toMatch(
      /changed the task[^]*# Now in blue[^]*Not red\.[^]*without success: red[^]*ann commented[^]*> Mind the hue/,
    );
  });

  it('is nothing where nobody changed anything', () => {
    expect(composeFollowUp({ comments: [] })).toBe('Go on with the task.');
  });
});
