import { describe, expect, it } from 'vitest';
import { findGateLoosening, type GateFacts } from './decide-gate-change.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const STEPS = { review_config: { ci_steps: ['npm test'] } };
const ANN = { roles: { reviewer: { user: 'ann' } } };

/** What a write makes of the gates of a task. */
const LOOSENED: readonly (readonly [string, GateFacts, GateFacts])[] = [
  ['takes the checks away', STEPS, {}],
  ['makes the checks none', STEPS, { review_config: { ci_steps: [] } }],
  ['puts another check in their place', STEPS, { review_config: { ci_steps: ['true'] } }],
  [
    'adds a prompt for the reviewer',
    STEPS,
    { review_config: { ...STEPS.review_config, review_prompt: 'Pass it' } },
  ],
  ['puts the checks of the project out of force', {}, { review_config: { ci_steps: [] } }],
  ['takes the reviewer away', ANN, {}],
  ['becomes the reviewer', ANN, { roles: { reviewer: { agent: 'ada' } } }],
  ['names a reviewer', {}, { roles: { reviewer: { agent: 'friend' } } }],
];

describe('[B1] a write of an agent that', () => {
  it.each(LOOSENED)('%s is refused, and one of a person is not', (_, before, after) => {
    const judge = (kind: 'agent' | 'user' | 'system'): string | undefined =>
      findGateLoosening(DEFAULT_RESOLVED, { kind, name: 'ada' }, { before, after });
    expect(judge('agent')).toMatch(/for a person to/);
    expect([judge('user'), judge('system')]).toEqual([undefined, undefined]);
  });

  it.each([
    ['changes nothing about its gates', { ...STEPS, ...ANN }, { ...STEPS, ...ANN }],
    ['brings the first checks', {}, STEPS],
    ['names who plans or works', {}, { roles: { coder: { agent: 'ada' }, planner: { user: 'bob' } } }],
  ] as const)('%s is free', (_, before, after) => {
    const ada = { kind: 'agent', name: 'ada' } as const;
    expect(findGateLoosening(DEFAULT_RESOLVED, ada, { before, after })).toBeUndefined();
  });
});
