import { expect, it } from 'vitest';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { hooksFor, resolveWorkflow } from './workflow.ts';

const AUDIENCES = ['all', 'agent_only', 'user_only'] as const;
const WORKFLOW = resolveWorkflow({
  ...DEFAULT_WORKFLOW,
  states: DEFAULT_WORKFLOW.states.map((state) =>
    state.name === 'todo'
      ? { ...state, before_exit: AUDIENCES.map((audience) => ({ action: 'require_role', audience })) }
      : state,
  ),
} as typeof DEFAULT_WORKFLOW);

it.each([
  ['user:ann', undefined, ['all', 'user_only']],
  ['user:ann', true, ['all', 'agent_only', 'user_only']],
  ['agent:ada', undefined, ['all', 'agent_only']],
  ['agent:ada', true, ['all', 'agent_only']],
  ['system', undefined, ['all', 'agent_only']],
])('guards for a move by %s, for an agent: %s', (triggered_by, for_agent, audiences) => {
  const hooks = hooksFor(WORKFLOW, 'todo', { phase: 'before_exit', triggered_by, for_agent });
  expect(hooks.map(({ audience }) => audience)).toEqual(audiences);
});

it('what a move does after the guards is not the agent’s that will work on it', () => {
  const at = { phase: 'after_enter', triggered_by: 'user:ann', for_agent: true } as const;
  const state = {
    ...WORKFLOW.states.get('todo'),
    after_enter: [{ action: 'notify', audience: 'agent_only' }],
  };
  const states = new Map([...WORKFLOW.states, ['todo', state as never]]);
  expect(hooksFor({ ...WORKFLOW, states }, 'todo', at)).toEqual([]);
});
