import { expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { inheritGates } from './inherit-gates.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const inherit = (task: Partial<Task>): unknown =>
  Object.fromEntries(inheritGates(DEFAULT_RESOLVED, task as Task)); // only what is looked at

it.each<[string, Partial<Task>, object]>([
  ['nothing, where nothing is said', {}, {}],
  [
    'the checks alone',
    { review_config: { ci_steps: ['npm test'] } },
    { review_config: { ci_steps: ['npm test'] } },
  ],
  [
    'what the reviewer is told alone',
    { review_config: { review_prompt: 'Be strict' } },
    { review_config: { review_prompt: 'Be strict' } },
  ],
])('a part takes from the whole %s', (_, task, fields) => {
  expect(inherit(task)).toStrictEqual(fields);
});

it('a part takes from the whole who judges the work, and not who does it', () => {
  const roles = { reviewer: { user: 'ann' }, coder: { agent: 'ada' } };
  expect(Object.values(inherit({ roles }) as object)).toEqual([{ user: 'ann' }]);
});
