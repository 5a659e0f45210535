import { describe, expect, it } from 'vitest';
import { requiredScope } from './required-scope.ts';

const STEPS = { ci_steps: ['npm test'] };

describe('the scope that a call needs', () => {
  it.each([
    ['task.create', 'task', {}, 'task'],
    ['task.create', 'task', { review_config: null }, 'task'],
    ['task.create', 'task', { review_config: { review_prompt: 'be strict' } }, 'task'],
    ['task.create', 'task', { review_config: STEPS }, 'exec'],
    ['task.update', 'task', { review_config: STEPS }, 'exec'],
    ['task.update', 'task', { review_config: { ci_steps: [] } }, 'exec'],
    ['task.update', 'task', { review_config: { ci_steps: null } }, 'exec'],
    ['task.update', 'task', { review_config: null }, 'exec'],
    ['task.claim', 'task', { overrides: null }, 'task'],
    ['task.claim', 'task', { overrides: {} }, 'task'],
    ['task.claim', 'task', { overrides: { command: 'sh' } }, 'exec'],
    ['task.comment', 'task', { review_config: STEPS }, 'task'],
    ['workflow.set', 'admin', { review_config: STEPS }, 'admin'],
    ['task.show', 'read', {}, 'read'],
  ] as const)('of %s (%s) with %j is %s', (name, access, input, scope) => {
    expect(requiredScope({ name, access }, input)).toBe(scope);
  });
});
