import { describe, expect, it } from 'vitest';
import { addAgent } from '#contract/agent-operations.ts';
import { listExecutorTypes } from '#engine/executor-kinds.ts';
import { readSetUp, setUpLines, toAgentEntry, toProfileEntry } from './agent-entry.ts';

const PROFILE = { executor: 'claude', model: 'opus\u001b[2J', permissions: 'ask' } as const;
const SECRET = 'sk-1234567890';

describe('an agent as it is shown', () => {
  it('tells the names of its environment and never a value', () => {
    const env = { API_KEY: SECRET, OTHER: SECRET };
    const at = { name: 'w', description: '', created_at: 'then' };
    const agent = toAgentEntry({
      ...at,
      paused_at: null,
      resumed_at: null,
      profile: PROFILE,
      profile_name: null,
      env,
      max: 1,
      version: 1,
    });
    const profile = toProfileEntry({ ...at, profile: PROFILE, env });
    const lines = setUpLines(agent.profile, agent.env);
    expect([agent.env, profile.env]).toEqual([Object.keys(env), Object.keys(env)]);
    expect(lines).toContain('  environment  API_KEY, OTHER');
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(JSON.stringify([agent, profile, lines])).not.toContain(SECRET);
  });

  it('takes variables apart at the first equals sign, and knows when nothing is said', () => {
    expect(readSetUp({ env: ['A=b=c', 'B='] })).toEqual({ wish: undefined, env: { A: 'b=c', B: '' } });
    expect(readSetUp({})).toEqual({ wish: undefined, env: undefined });
    expect(readSetUp({ profile: 'p' }).wish).toMatchObject({ from: 'p' });
  });

  it('can be asked for by every executor there is', () => {
    const told = addAgent.input.shape.executor.description ?? '';
    for (const { kind } of listExecutorTypes()) expect(told).toMatch(new RegExp(`\\b${kind}\\b`));
  });
});
