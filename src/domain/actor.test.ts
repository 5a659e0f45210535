import { describe, expect, it } from 'vitest';
import { judgeNamed, parseActor, toTriggeredBy } from './actor.ts';

describe('parseActor', () => {
  it.each([
    ['worker-1', 'agent', 'worker-1'],
    ['agent:worker-1', 'agent', 'worker-1'],
    ['user:ann', 'user', 'ann'],
    ['user:Ada Lovelace', 'user', 'Ada Lovelace'],
    ['agent:team:7', 'agent', 'team:7'],
    ['agent:user:ann', 'agent', 'user:ann'],
    ['team:7', 'agent', 'team:7'],
    ['system:replay', 'agent', 'system:replay'],
    ['Agent:x', 'agent', 'Agent:x'],
    ['agent:', 'agent', 'agent:'],
    ['user:', 'agent', 'user:'],
    ['名', 'agent', '名'],
  ])('takes %j, when a flag or the environment gave it, for the %s %j', (text, kind, name) => {
    expect(parseActor(text, 'named')).toEqual({ kind, name, named: true });
  });

  it.each([
    ['Ada Lovelace', 'user', 'Ada Lovelace'],
    ['agent:ci', 'agent', 'ci'],
    ['user:ann', 'user', 'ann'],
    ['agent:', 'user', 'agent:'],
  ])('takes %j, when git gave it, for the %s %j', (text, kind, name) => {
    expect(parseActor(text, 'git')).toEqual({ kind, name, named: false });
  });

  it('gives nobody the kind system, whatever they call themselves', () => {
    for (const text of ['system', 'system:x', 'agent:system', 'user:system']) {
      expect(parseActor(text, 'named').kind).not.toBe('system');
    }
  });
});

describe('toTriggeredBy', () => {
  it('writes the kind before the name, and parseActor reads that again', () => {
    for (const kind of ['user', 'agent'] as const) {
      for (const name of ['ann', 'a:b', 'Ada Lovelace']) {
        const actor = { kind, name, named: true };
        expect(toTriggeredBy(actor)).toBe(`${kind}:${name}`);
        expect(parseActor(toTriggeredBy(actor), 'named')).toEqual(actor);
      }
    }
    expect(toTriggeredBy({ kind: 'system', name: 'replay' })).toBe('system:replay');
  });
});

describe('whoever was started as an agent', () => {
  it.each([
    ['w1', 'user:ada', 'person'],
    ['agent:w1', 'user:ada', 'person'],
    ['w1', 'w1', 'itself'],
    ['w1', 'agent:w1', 'itself'],
    ['agent:w1', 'w1', 'itself'],
    ['w1', 'w2', 'other_agent'],
    ['w1', 'agent:w2', 'other_agent'],
    ['w1', 'Tess', 'other_agent'],
    ['w1', 'agent:Tess', 'other_agent'],
    ['user:ada', 'user:bob', 'itself'],
    ['user:ada', 'w1', 'itself'],
    ['', 'user:ada', 'itself'],
    [undefined, 'user:ada', 'itself'],
    ['w1', undefined, 'itself'],
  ] as const)('[B7] FORGE_ACTOR=%s --actor %s names %s', (environment, flag, named) => {
    expect(judgeNamed(environment, flag)).toBe(named);
  });
});
