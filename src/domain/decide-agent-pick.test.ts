import { describe, expect, it } from 'vitest';
import { PICK_RULES, type PickRule } from '#contract/attempt.ts';
import { decideAgentPick, mayNameRule } from './decide-agent-pick.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const KINDS = ['user', 'agent', 'system'] as const;
const OTHERS = [{ agent: 'one' }, { agent: 'two' }];

function decide(
  kind: (typeof KINDS)[number],
  rule: PickRule,
  {
    attempts = OTHERS,
    roles = {},
  }: { attempts?: { agent: string }[]; roles?: Record<string, { agent: string }> } = {},
): string {
  return decideAgentPick(DEFAULT_RESOLVED, { actor: { kind, name: 'wk1' }, rule, attempts, task: { roles } })
    .outcome;
}

describe('[B6] who picks between attempts', () => {
  it.each(PICK_RULES)('is a person or Forge itself under any rule: %s', (rule) => {
    for (const kind of ['user', 'system'] as const) expect(decide(kind, rule)).toBe('allowed');
  });

  it.each([
    ['person', {}, OTHERS, 'refused'],
    ['first_green', {}, OTHERS, 'refused'],
    ['smallest_green', {}, OTHERS, 'refused'],
    ['reviewer', {}, OTHERS, 'refused'],
    ['reviewer', { reviewer: { agent: 'other' } }, OTHERS, 'refused'],
    ['reviewer', { coder: { agent: 'wk1' } }, OTHERS, 'refused'],
    ['reviewer', { reviewer: { agent: 'wk1' } }, OTHERS, 'allowed'],
    ['person', { reviewer: { agent: 'wk1' } }, OTHERS, 'refused'],
    ['reviewer', { reviewer: { agent: 'wk1' } }, [{ agent: 'wk1' }, { agent: 'two' }], 'refused'],
    ['reviewer', { reviewer: { agent: 'wk1' } }, [{ agent: 'one' }, { agent: 'wk1' }], 'refused'],
  ] as const)('with %s and %j an agent is judged', (rule, roles, attempts, outcome) => {
    expect(decide('agent', rule, { roles, attempts: [...attempts] })).toBe(outcome);
  });

  it.each(PICK_RULES.flatMap((set) => PICK_RULES.map((asked) => [set, asked] as const)))(
    'an agent names no other rule than the one that is set: %s, asked for %s',
    (set, asked) => {
      expect(mayNameRule({ kind: 'agent' }, { asked, set })).toBe(asked === set || asked === 'person');
      expect(mayNameRule({ kind: 'user' }, { asked, set })).toBe(true);
      expect(mayNameRule({ kind: 'agent' }, { asked: undefined, set })).toBe(true);
    },
  );
});
