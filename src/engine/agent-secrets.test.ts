import { describe, expect, it } from 'vitest';
import { findAgentSecrets } from './agent-secrets.ts';

const env = {
  ANTHROPIC_API_KEY: 'sk-ant-0123456789',
  ANTHROPIC_MODEL: 'claude-opus-large',
  OPENAI_API_KEY: 'sk-oai-0123456789',
};
const agent = {
  name: 'ada',
  profile: { executor: 'claude', permissions: 'all' },
  env: { ANYTHING: 'given-by-the-person' },
} as const;

describe('what an agent must not tell', () => {
  const secrets = findAgentSecrets({ env }, agent);

  it('[H2] is what it was given, and the keys that its program has of Forge’s environment', () => {
    expect(secrets.redact(`a ${agent.env.ANYTHING} b`)).toBe('a [redacted] b');
    expect(secrets.redact(env.ANTHROPIC_API_KEY)).toBe('[redacted]');
  });

  it('is no setting, and nothing that it does not have', () => {
    expect(secrets.redact(env.ANTHROPIC_MODEL)).toBe(env.ANTHROPIC_MODEL);
    expect(secrets.redact(env.OPENAI_API_KEY)).toBe(env.OPENAI_API_KEY);
  });

  it('[H2] is looked for in all of an answer', () => {
    const answer = { [env.ANTHROPIC_API_KEY]: [{ text: `x${env.ANTHROPIC_API_KEY}`, count: 1 }] };
    expect(secrets.redactValue(answer)).toEqual({ '[redacted]': [{ text: 'x[redacted]', count: 1 }] });
  });
});
