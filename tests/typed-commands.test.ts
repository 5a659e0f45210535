import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { findCommandFault, findTypedCommands } from './support/typed-commands.ts';

const ROOT = join(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: ROOT })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => !/\.test\.ts$|behaviour|\.generated\.ts$|-completion\.ts$/.test(path));

describe('the command lines that Forge gives people to type', () => {
  const commands = files.flatMap((path) => findTypedCommands(path, readFileSync(join(ROOT, path), 'utf8')));

  it('can be typed', () => {
    const faults = commands.flatMap(({ path, line, command }) => {
      const fault = findCommandFault(command, FLAG_TABLE);
      return fault === undefined ? [] : [`${path}:${line}: ${command} (${fault})`];
    });
    expect(commands.length).toBeGreaterThan(400);
    expect(faults).toEqual([]);
  });

  it.each([
    ['forge task close <id>', 'it lacks reason'],
    ['forge task transition <id> todo, in_progress', undefined],
    ['forge task transition <id> todo in_progress', 'too many arguments: in_progress'],
    ['forge task transition <id>', 'it lacks state'],
    ['forge task lsit', 'there is no command task lsit'],
    ['forge ready --al', 'ready has no flag --al'],
    ['forge claim <id> --lease 60s', '--lease: 60s is no number'],
    ['forge task update <id> --status done', '--status: done is none of open, in_progress, closed'],
    ['forge task update <id> --title', '--title lacks its value'],
    ['forge --server <url> task show <id> --json', undefined],
    ['forge task --help', undefined],
  ])('%s, planted, is judged: %s', (command, fault) => {
    const [found] = findTypedCommands('planted.ts', `const hint = 'To go on: ${command}';`);
    expect(findCommandFault(found?.command ?? '', FLAG_TABLE)).toBe(fault);
  });

  it('are found wherever a text has them', () => {
    const text = [
      "const a = 'forge ready';",
      'const b = `Say it (forge inbox), or: forge task show ${id}. Then \\`forge run ${id} --merge\\``;',
      "const c = 'forge doctor, then forge doctor --fix';",
      "const d = 'See `forge task close`';",
      '// forge nothing',
    ];
    expect(findTypedCommands('planted.ts', text.join('\n')).map(({ command }) => command)).toEqual([
      'forge ready',
      'forge task show <filled>',
      'forge run <filled> --merge',
      'forge doctor',
      'forge doctor --fix',
    ]);
  });
});
