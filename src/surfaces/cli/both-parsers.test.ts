import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptArgv } from '#operations/accept-argv.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { type FieldRule, listOperationEntries, type OperationEntry } from '#operations/flag-table.ts';
import { parseArgv } from './commander-parser.ts';

const options = { table: FLAG_TABLE, version: '0', view: { color: false, columns: 80 } };
const ENTRIES = listOperationEntries(FLAG_TABLE);
const RUNS = 4_000;

/** Words that have broken parsers before: dashes, equals signs, blanks, controls, other scripts, half a surrogate. */
const oddWord = fc.oneof(
  fc.constantFrom(
    '',
    '-',
    '--',
    '---',
    '-1',
    '-0',
    '0',
    '4',
    '5',
    '1.5',
    '1e3',
    '007',
    '9007199254740993',
    'none',
    'null',
    'true',

    'bug',
    'open',
    'todo',
    'task',
    'ready',
    'help',
    'a=b',
    '=',
    '=b',
    'a=',
    'a=@f',
    'a=@-',
    'a=@@x',
    'a={"__proto__":1}',
    '__proto__=1',
    'a={',
    'a=1e999',

    ' x',
    'x ',
    'a\nb',
    'a\u0000b',
    'a\u2028b',
    '修复',
    '🚀',
    '\ufffd',
    '\ud800',
    'id',
    'id,title',
    'fields',
    '-C',
    '-h',
    '-x',
    '--help',
    '--version',
    '--json=1',
    '--no-color=1',
    '--=x',
    '--x=',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 6 }).map((text) => `--${text}`),
);

function textFor(rule: FieldRule): fc.Arbitrary<string> {
  const fitting =
    rule.kind === 'integer'
      ? fc
          .integer({ min: Math.max(rule.minimum ?? 0, -9) - 1, max: Math.min(rule.maximum ?? 9, 9) + 1 })
          .map(String)
      : rule.values !== undefined
        ? fc.constantFrom(...rule.values)
        : rule.kind === 'assignments'
          ? fc
              .tuple(fc.string({ maxLength: 4 }), fc.oneof(fc.json({ maxDepth: 2 }), fc.string()))
              .map(([key, value]) => `${key}=${value}`)
          : fc.oneof(
              fc.constantFrom('fg-a3f8', 'worker-1', 'Fix the parser'),
              fc.string({ unit: 'grapheme', maxLength: 90 }),
            );
  return fc.oneof({ weight: 4, arbitrary: fitting }, { weight: 1, arbitrary: oddWord });
}

function flagWords(name: string, value: fc.Arbitrary<string> | undefined): fc.Arbitrary<readonly string[]> {
  if (value === undefined) return fc.constant([`--${name}`]);
  return fc.oneof(
    value.map((text) => [`--${name}`, text]),
    value.map((text) => [`--${name}=${text}`]),
  );
}

function globalWords(entry: OperationEntry): fc.Arbitrary<readonly string[]> {
  const fields = fc.oneof(
    fc.subarray([...entry.output], { minLength: 1 }).map((names) => names.join(',')),
    oddWord,
  );
  return fc.oneof(
    fc.constantFrom(
      ['--json'],
      ['--quiet'],
      ['--no-color'],
      ['-C', 'dir'],
      ['--json', '--fields', entry.output[0] ?? ''],
    ),
    flagWords('fields', fields),
    flagWords('actor', textFor(FLAG_TABLE.actor)),
    flagWords('directory', oddWord),
  );
}

function commandLine(entry: OperationEntry): fc.Arbitrary<readonly string[]> {
  const flags = Object.values(entry.fields).flatMap((rule) => [
    ...(rule.flag === undefined
      ? []
      : [flagWords(rule.flag, rule.kind === 'boolean' ? undefined : textFor(rule))]),
    ...(rule.file_flag === undefined ? [] : [flagWords(rule.file_flag, fc.constantFrom('-', 'spec.md', ''))]),
  ]);
  const args = fc.tuple(
    ...entry.args.map((field) => textFor(entry.fields[field] ?? { kind: 'string' }).map((text) => [text])),
  );
  const odd = oddWord.map((word) => [word]);
  const some = (
    words: fc.Arbitrary<readonly string[]>,
    maxLength: number,
  ): fc.Arbitrary<readonly (readonly string[])[]> => fc.array(words, { maxLength });
  return fc
    .tuple(
      fc.constantFrom(entry.path, entry.alias ?? entry.path),
      some(globalWords(entry), 2),
      fc.oneof({ weight: 4, arbitrary: args }, { weight: 1, arbitrary: fc.constant([]) }),
      flags.length === 0 ? fc.constant([]) : some(fc.oneof(...flags), 5),
      fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some(odd, 2) }),
      fc.nat(4),
    )
    .chain(([path, globals, words, local, strange, where]) => {
      const behind = fc.shuffledSubarray([...globals, ...words, ...local, ...strange], {
        minLength: globals.length + words.length + local.length + strange.length,
      });
      // Now and then a global flag stands before the command, and once in a while the order is not shuffled.
      return behind.map((groups) => {
        const front = where === 0 ? globals.flat() : [];
        const rest =
          where === 0
            ? [...words, ...local, ...strange]
            : where === 1
              ? [...words, ...local, ...globals, ...strange]
              : groups;
        return [...front, ...path, ...rest.flat()];
      });
    });
}

const anyCommandLine = fc.oneof(...ENTRIES.map(commandLine));

function fitsPlainWords({ pattern }: FieldRule): boolean {
  return pattern === undefined || new RegExp(...pattern).test('fg-a3f8');
}

describe('the two parsers', () => {
  it('agree on every command line that the quick one accepts', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyCommandLine, (argv) => {
        const quick = acceptArgv(argv, FLAG_TABLE);
        if (quick === undefined) return;
        accepted += 1;
        expect(parseArgv(argv, options)).toStrictEqual({ outcome: 'accepted', accepted: quick });
      }),
      { numRuns: RUNS },
    );
    // A test that accepts nothing would prove nothing.
    expect(accepted).toBeGreaterThan(RUNS / 8);
  });

  it('agree on words without any order', () => {
    const words = fc.oneof(
      fc.constantFrom(
        ...ENTRIES.flatMap(({ path }) => path),
        ...ENTRIES.flatMap(({ fields }) => Object.values(fields).map((rule) => `--${rule.flag ?? 'x'}`)),
      ),
      oddWord,
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 6 }), (argv) => {
        const quick = acceptArgv(argv, FLAG_TABLE);
        if (quick === undefined) return;
        expect(parseArgv(argv, options)).toStrictEqual({ outcome: 'accepted', accepted: quick });
      }),
      { numRuns: RUNS },
    );
  });

  it('take the slow way only when they must: every fitting value is accepted quickly', () => {
    const plain = (entry: OperationEntry): fc.Arbitrary<readonly string[]> => {
      const word = (rule: FieldRule): fc.Arbitrary<string> =>
        rule.kind === 'integer'
          ? fc.integer({ min: rule.minimum ?? 0, max: rule.maximum ?? 9 }).map(String)
          : rule.values !== undefined
            ? fc.constantFrom(...rule.values)
            : rule.kind === 'assignments'
              ? fc.constantFrom('a=1', 'b=text', 'c={"d":[null]}', 'e=@file')
              : fc.constantFrom('abc', 'fg-a3f8', 'x1');
      const flagsOf = (names: readonly string[]) =>
        names.flatMap((name) => {
          const rule = entry.fields[name];
          // A flag of several words is read by the other parser; some patterns want more than a plain word.
          if (rule?.flag === undefined || rule.words === true || !fitsPlainWords(rule)) return [];
          return [
            rule.kind === 'boolean'
              ? fc.constant([`--${rule.flag}`])
              : word(rule).map((text) => [`--${rule.flag}`, text]),
          ];
        });
      const must = flagsOf(entry.required.filter((name) => name !== entry.prompt?.field));
      const flags = flagsOf(
        Object.keys(entry.fields).filter(
          (name) => name === entry.prompt?.field || !entry.required.includes(name),
        ),
      );
      const args = fc.tuple(...entry.args.map((field) => word(entry.fields[field] ?? { kind: 'string' })));
      const chosen = fc.subarray(flags).chain((some) => fc.tuple(...must, ...some));
      const json = fc.constantFrom([], ['--json'], ['--json', '--fields', entry.output.join(',')]);
      return fc
        .tuple(args, chosen, json)
        .map(([words, local, global]) => [...entry.path, ...words, ...local.flat(), ...global]);
    };
    fc.assert(
      fc.property(fc.oneof(...ENTRIES.map(plain)), (argv) => {
        expect(acceptArgv(argv, FLAG_TABLE)).toBeDefined();
        expect(parseArgv(argv, options).outcome).toBe('accepted');
      }),
      { numRuns: 1_000 },
    );
  });
});
