import { describe, expect, it } from 'vitest';
import { unknownState } from './unknown-state.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

describe('a word that is no state of the workflow', () => {
  it('is told with the nearest state by its spelling', () => {
    const toCommand = (state: string): string => `forge task transition fg-a ${state}`;
    expect(unknownState(DEFAULT_RESOLVED, 'reviw', { code: 'state_invalid', toCommand })).toMatchObject({
      code: 'state_invalid',
      message: 'The workflow has no state reviw; did you mean review?',
      hint: 'forge task transition fg-a review',
    });
  });

  it('is told with all states where none is near', () => {
    expect(unknownState(DEFAULT_RESOLVED, 'nonsense')).toMatchObject({
      code: 'invalid_input',
      message: `The workflow has no state nonsense; it has ${[...DEFAULT_RESOLVED.states.keys()].join(', ')}`,
      hint: 'forge workflow show',
    });
  });
});
