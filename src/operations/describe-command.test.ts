import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { describeCommand, describeLimits, describeRange } from './describe-command.ts';
import { FLAG_TABLE } from './flag-table.generated.ts';

function describeNamed(name: string) {
  const declaration = OPERATIONS.find((one) => one.name === name);
  const entry = FLAG_TABLE.entries[name]?.();
  if (declaration === undefined || entry === undefined) throw new Error(`no operation ${name}`);
  return describeCommand(declaration, entry);
}

describe('describeCommand', () => {
  it.each([
    ['task.create', 'forge task create <title> [flags]'],
    ['task.close', 'forge task close <id> --reason <reason> [flags]'],
    ['task.comment', 'forge task comment <id> <body> [flags]'],
    ['task.claim', 'forge task claim [id] [flags]'],
    ['dep.add', 'forge dep add <from-id> <to-id> [flags]'],
  ])('usage of %s', (name, usage) => {
    expect(describeNamed(name).usage).toBe(usage);
  });
  it('spells flags with what they take', () => {
    const terms = describeNamed('task.update').flags.map(({ term }) => term);
    expect(terms).toContain('--priority <n>');
    expect(terms).toContain('--status <open|in_progress|closed>');
    expect(terms).toContain('--assignee <identity|none>');
    expect(terms).toContain('--meta-set <key=value>');
    expect(terms).toContain('--description-file <path>');
    expect(terms).toContain('--label-add <label>');
  });
  it('keeps a long list of values out of the term', () => {
    const type = describeNamed('task.create').flags.find(({ field }) => field === 'type');
    expect(type).toMatchObject({
      term: '--type <type>',
      values: ['task', 'bug', 'feature', 'epic', 'message'],
    });
  });
  it('lists the file flag of an argument with the flags', () => {
    const { args, flags } = describeNamed('task.comment');
    expect(args.map(({ term }) => term)).toEqual(['<id>', '<body>']);
    expect(flags.map(({ term }) => term)).toEqual([
      '--body-file <path>',
      '--reply-to <comment>',
      '--fence <n>',
    ]);
  });
  it('has a description for everything', () => {
    for (const { name } of OPERATIONS) {
      const { args, flags } = describeNamed(name);
      for (const { description, term } of [...args, ...flags])
        expect(`${name} ${term}: ${description}`).toMatch(/: ./);
    }
  });
});

describe('limits', () => {
  it('in words', () => {
    expect(describeLimits({ kind: 'integer', minimum: 0, maximum: 4 })).toBe('0 to 4');
    expect(describeLimits({ kind: 'enum', values: ['a', 'b'], nullable: true })).toBe(
      'one of a, b, or "none"',
    );
    expect(describeLimits({ kind: 'strings', maxLength: 9, maxItems: 3 })).toBe(
      'at most 9 characters each, at most 3 times',
    );
    expect(describeLimits({ kind: 'string' })).toBe('');
  });
  it('leaves out what every number has', () => {
    expect(describeRange({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).toBe('at least 1');
    expect(describeRange({ minimum: Number.MIN_SAFE_INTEGER, maximum: 4 })).toBe('at most 4');
    expect(describeRange({})).toBe('a whole number');
  });
});
