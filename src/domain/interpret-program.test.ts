import { describe, expect, it } from 'vitest';
import { asks, type Files } from '../../tests/support/tree-in-memory.ts';

const TEST = '{"scripts":{"test":"jest"}}';
const TRUE = '{"scripts":{"test":"true"}}';

/** A line, and the files of which a change makes it do something else. */
const SCRIPTS: readonly (readonly [string, Files, Files])[] = [
  ['sh ci.sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['sh -m ci.sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['sh -e ci.sh other', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["sh -c './ci.sh'", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['node --require ./setup.js check.js', { 'setup.js': 'x', 'check.js': 'x' }, { 'check.js': 'y' }],
  ['node --require ./setup.js check.js', { 'setup.js': 'x', 'check.js': 'x' }, { 'setup.js': 'y' }],
  ['node --run test', { 'package.json': TEST }, { 'package.json': TRUE }],
  [`node -e "require('./check')"`, { 'check.js': 'x' }, { 'check.js': 'y' }],
  ['python3 -m check', { 'check.py': 'x' }, { 'check.py': 'y' }],
  ['deno task test', { 'deno.json': 'x' }, { 'deno.json': 'y' }],
  ['deno run check.ts', { 'check.ts': 'x' }, { 'check.ts': 'y' }],
  ['deno eval \'import "./check.ts"\'', { 'check.ts': 'x' }, { 'check.ts': 'y' }],
  ['echo ./ci.sh | sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["printf './ci.sh\\n' | sh", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["echo './ci.sh\\n' | sh", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["printf '%s\\n' ./ci.sh | sh", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["printf './ci\\056sh' | sh", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['cat ci.sh | sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['sh <<< ./ci.sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['sh <<X\n./ci.sh\nX', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['S=ci.sh; sh ${S}', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['sh /top/ci.sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['X=./ci.sh; env $X', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["own-tool -c 'sh ./ci.sh'", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ["own-tool -c 'make check'", { Makefile: 'x' }, { Makefile: 'y' }],
  ["trap './ci.sh' EXIT", { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['node check', { 'check.js': 'x' }, { 'check.js': 'y' }],
  ['perl -I lib -MCheck -e 1', { 'lib/Check.pm': 'x' }, { 'lib/Check.pm': 'y' }],
  ['perl -Ilib -MCheck -e 1', { 'lib/Check.pm': 'x' }, { 'lib/Check.pm': 'y' }],
  ['ruby -r./check -e 1', { 'check.rb': 'x' }, { 'check.rb': 'y' }],
  ['python3 -mcheck', { 'check.py': 'x' }, { 'check.py': 'y' }],
  ['python3 -mcheck', { 'check/__main__.py': 'x', 'check/part.py': 'x' }, { 'check/part.py': 'y' }],
  ['sh < ci.sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['make-script | sh', {}, { 'any.txt': 'y' }],
  ['find ci -exec sh {} ;', { 'ci/a.sh': 'x' }, { 'ci/a.sh': 'y' }],
  ["find src -name '*.ts' -exec ./lint.sh {} +", { 'lint.sh': 'x' }, { 'lint.sh': 'y' }],
  ['npm run test', { 'package.json': TEST }, { 'package.json': TRUE }],
  ['npm test --workspace=a', { 'package.json': TEST, 'a/package.json': TEST }, { 'a/package.json': TRUE }],
  ['npm test -w a', { 'package.json': TEST, 'a/package.json': TEST }, { 'a/package.json': TRUE }],
  ['cd a/b && npx eslint', { 'a/b/x': 'x' }, { 'a/node_modules/.bin/eslint': '#!/bin/true' }],
];

describe('a person is asked again where a script has changed that a line runs', () => {
  it.each(SCRIPTS)('%s', (line, base, change) => {
    expect(asks(line, base, {})).toBe(false);
    expect(asks(line, base, change)).toBe(true);
  });
});

/** Changes of files that the same lines do not run. */
const OTHERS: typeof SCRIPTS = [
  ['sh ci.sh other', { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  ["sh -c './ci.sh' other", { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  [`node -e "require('./check')" data.json`, { 'check.js': 'x', 'data.json': '1' }, { 'data.json': '2' }],
  [
    'node --require ./setup.js check.js data.json',
    { 'check.js': 'x', 'data.json': '1' },
    { 'data.json': '2' },
  ],
  ['deno task test', { 'deno.json': 'x', task: 'x' }, { test: 'y', 'a.ts': 'y' }],
  ['deno test a.ts', { 'a.ts': 'x' }, { 'a.ts': 'y' }],
  ['echo ./ci.sh | sh', { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  ["printf './ci.sh\\n' | sh", { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  ['cat ci.sh | sh', { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  ['find ci -exec sh {} ;', { 'ci/a.sh': 'x', 'src/a.ts': 'x' }, { 'src/a.ts': 'y' }],
  ["find src -name '*.ts' -exec ./lint.sh {} +", { 'lint.sh': 'x', 'src/a.ts': 'x' }, { 'src/a.ts': 'y' }],
  ['npm test', { 'package.json': TEST, 'a/package.json': TEST }, { 'a/package.json': TRUE }],
  ['S=ci.sh; sh ${S}', { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  ['sh /elsewhere/ci.sh', { 'ci.sh': 'x' }, { 'ci.sh': 'y' }],
  ['X=./ci.sh; env $X', { 'ci.sh': 'x', other: 'x' }, { other: 'y' }],
  ["trap './ci.sh' EXIT", { 'ci.sh': 'x', EXIT: 'x' }, { EXIT: 'y' }],
  [Array.from({ length: 12 }, (_, at) => `sh -c 'true ${at}'`).join('; '), { other: 'x' }, { other: 'y' }],
  ['npm run', { 'package.json': TEST }, { 'package.json': TRUE }],
];

describe('a person is not asked again where another file has changed', () => {
  it.each(OTHERS)('%s', (line, base, change) => {
    expect(asks(line, base, change)).toBe(false);
  });
});
