import { describe, expect, it } from 'vitest';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { listOperationEntries } from '#operations/flag-table.ts';
import { parseArgv } from './commander-parser.ts';

const options = { table: FLAG_TABLE, version: '1.2.3', view: { color: false, columns: 80 } };
const parse = (...argv: string[]) => parseArgv(argv, options);

function print(...argv: string[]): string {
  const parsed = parse(...argv);
  expect(parsed.outcome).toBe('print');
  return parsed.outcome === 'print' ? parsed.text : '';
}

describe('parseArgv shows help', () => {
  it('for forge alone, grouped', () => {
    const text = print();
    const headings = [...text.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Start here', 'Work', 'Graph', 'Project', 'Global flags']);
    expect(text).toMatch(/^Usage: forge <command> \[flags\]$/m);
    expect(text).toMatch(/^ {2}claim \[id\] +Claim a task/m);
    for (const flags of [['--help'], ['-h'], ['help'], ['--json', '--help'], ['-C', '--help']])
      expect(print(...flags)).toBe(text);
  });
  it('names every command in it', () => {
    for (const { path, alias } of listOperationEntries(FLAG_TABLE))
      expect(print()).toContain(`\n  ${(alias ?? path).join(' ')} `);
  });
  it('for a group', () => {
    const text = print('task');
    expect(text).toMatch(/^ {2}create <title> +Create a task$/m);
    expect(text).not.toMatch(/^ {2}dep/m);
    for (const argv of [
      ['task', '--help'],
      ['help', 'task'],
      ['task', '-h'],
    ])
      expect(print(...argv)).toBe(text);
  });
  it.each(listOperationEntries(FLAG_TABLE).map((entry) => [entry.path.join(' '), entry] as const))(
    'for forge %s, with examples',
    (_name, entry) => {
      const text = print(...entry.path, '--help');
      expect(text).toMatch(/\nExamples:\n {2}\S/);
      const names = Object.values(entry.fields).flatMap(({ flag, file_flag }) => [
        flag ?? 'json',
        file_flag ?? 'json',
      ]);
      for (const name of names) expect(text).toContain(`  --${name}`);
      expect(print('help', ...entry.path)).toBe(text);
      expect(
        text
          .split('\n')
          .every((line) => line.length <= 80 || line.startsWith('  forge') || line.includes('FORGE_')),
      ).toBe(true);
    },
  );
  it('wherever the flag stands', () => {
    const text = print('task', 'create', '--help');
    for (const argv of [
      ['x', '--help'],
      ['-h'],
      ['--wonderful', '--help'],
      ['--priority', 'high', '--help'],
      ['--reason', '--help'],
      ['--description', '-h'],
    ]) {
      expect(print('task', 'create', ...argv)).toBe(text);
    }
  });
  it('not for words behind --', () => {
    expect(parse('task', 'create', '--', '--help')).toMatchObject({
      accepted: { input: { title: '--help' } },
    });
    expect(() => parse('ready', '--', '--help')).toThrow(/Too many/);
  });
  it('in colour where there are colours', () => {
    const parsed = parseArgv(['ready', '--help'], { ...options, view: { color: true, columns: 80 } });
    expect(parsed).toMatchObject({
      outcome: 'print',
      text: expect.stringContaining('\u001b[1mExamples:') as string,
    });
  });
});

describe('parseArgv shows the version', () => {
  it('as text and as JSON', () => {
    expect(print('--version')).toBe('1.2.3\n');
    expect(print('--quiet', '--version')).toBe('1.2.3\n');
    expect(print('--version', '--json')).toBe('{"version":"1.2.3"}\n');
  });
});
