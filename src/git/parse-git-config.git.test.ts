import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { tempFolder, testGitEnv } from '../../tests/support/temp-repo.ts';
import { parseGitConfig } from './parse-git-config.ts';

/** Pieces that a configuration is made of, put together without sense. */
const SECTIONS = [
  '[user]',
  '[User]',
  '[a "B"]',
  '[a "\\"\\\\"]',
  '[a.b]',
  '[',
  ']',
  '[x',
  '[ "q"]',
  '[]',
  '[a "b" ]',
];
const NAMES = [
  'name',
  'Name',
  'x-y',
  'x_y',
  '9',
  'é',
  '=',
  ' = ',
  '=',
  ' ',
  '\t',
  '\n',
  '\n',
  '\n',
  '\r\n',
  '\r',
];
const VALUES = [
  '"',
  '\\',
  '\\\n',
  '\\\r\n',
  '\\n',
  '\\t',
  '\\b',
  '\\"',
  '\\\\',
  '\\q',
  '#',
  ';',
  'a b',
  '.',
  '-',
];
const LINES = [
  '[user]\n',
  '[a "b c"]\n',
  'name = Ada\n',
  'name\n',
  'k="q # ; q"  # c\n',
  'k = a \\\n b\n',
  '# c\n',
];
const pieces = fc.constantFrom(...SECTIONS, ...NAMES, ...VALUES);
const lines = fc.constantFrom(...LINES);
const configs = fc
  .array(fc.oneof({ weight: 2, arbitrary: pieces }, { weight: 3, arbitrary: lines }), { maxLength: 14 })
  .map((parts) => parts.join(''));

it('reads and refuses what git reads and refuses', async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, 'config');
  fc.assert(
    fc.property(configs, fc.boolean(), (text, mark) => {
      writeFileSync(file, (mark ? '\uFEFF' : '') + text);
      const ours = parseGitConfig((mark ? '\uFEFF' : '') + text)?.map((entry) =>
        entry.value === undefined ? entry.key : `${entry.key}\n${entry.value}`,
      );
      expect(ours?.map(withoutTabs)).toEqual(listByGit(file)?.map(withoutTabs));
    }),
    { numRuns: 200 },
  );
});

function listByGit(file: string): string[] | undefined {
  const result = spawnSync('git', ['config', '--file', file, '--null', '--list'], {
    cwd: join(file, '..'),
    env: testGitEnv(),
    encoding: 'utf8',
  });
  return result.status === 0 ? result.stdout.split('\0').slice(0, -1) : undefined;
}

/** git before 2.45 turned the whitespace inside a value into spaces. */
function withoutTabs(entry: string): string {
  return entry.replaceAll(/[\t\r]/g, ' ');
}
