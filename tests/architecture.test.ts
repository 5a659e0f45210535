import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { findViolations, ROOMS } from './support/rooms.ts';

const ROOT = join(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => path.split(sep).join('/'));

test('every file in src keeps to the rooms', () => {
  const found = files.flatMap((path) => findViolations(path, readFileSync(join(ROOT, path), 'utf8')));
  expect(found).toEqual([]);
});

test('it saw the files', () => {
  expect(files.length).toBeGreaterThan(20);
});

test('every room with an import key is in the table', () => {
  const keys = Object.keys(packageJson.imports).map((key) => key.slice(1, -2));
  const rooms = new Set(['app', ...Object.keys(ROOMS).map((room) => room.split('/')[0])]);
  expect(keys.filter((key) => !rooms.has(key))).toEqual([]);
});

// A checker that sees nothing passes too: each rule has to report what is planted for it.
describe('planted violations are reported', () => {
  test.each([
    ['kernel imports a room', 'src/kernel/ids.ts', `import { a } from '#domain/graph.ts';`],
    ['kernel imports Node', 'src/kernel/ids.ts', `import { join } from 'node:path';`],
    ['domain imports zod', 'src/domain/graph.ts', `import type * as z from 'zod';`],
    [
      'contract imports a room above',
      'src/contract/task.ts',
      `import type { Store } from '#store/store.ts';`,
    ],
    ['store imports git', 'src/store/store.ts', `export { a } from '#git/refs.ts';`],
    ['store imports git lazily', 'src/store/store.ts', `export const a = () => import('#git/refs.ts');`],
    ['store imports a type of git', 'src/store/store.ts', `export type A = import('#git/refs.ts').A;`],
    ['operations runs git', 'src/operations/task-claim.ts', `import { a } from '#git/refs.ts';`],
    ['a surface imports the store', 'src/surfaces/cli/run.ts', `import { a } from '#store/store.ts';`],
    ['a surface imports another', 'src/surfaces/cli/run.ts', `import { a } from '#surfaces/http/server.ts';`],
    ['a surface reaches another', 'src/surfaces/cli/run.ts', `import { a } from '../http/server.ts';`],
    ['a private file', 'src/sync/fold.ts', `import { a } from '#store/sqlite/open.ts';`],
    ['a path out of the room', 'src/sync/fold.ts', `import { a } from '../store/store.ts';`],
    ['a path out of src', 'src/sync/fold.ts', `import { a } from '../../scripts/generate.ts';`],
    ['the own room by its name', 'src/sync/fold.ts', `import { a } from '#sync/journal.ts';`],
    ['an unknown package', 'src/store/store.ts', `import pg from 'pg';`],
    ['a computed import', 'src/store/store.ts', `export const a = (name: string) => import(name);`],
    ['a file outside of every room', 'src/helpers.ts', `export const a = 1;`],
    ['a room that is not in the table', 'src/helpers/text.ts', `export const a = 1;`],
    ['a barrel', 'src/store/index.ts', `export * from './store.ts';`],
    ['prepare', 'src/sync/fold.ts', `export const a = (db: Db) => db.prepare(text);`],
    ['SQL in a string', 'src/engine/claims.ts', `export const a = 'UPDATE task SET status = ?';`],
    ['SQL in a template', 'src/engine/claims.ts', 'export const a = `SELECT ${columns}\n  FROM task`;'],
    ['child_process', 'src/sync/hooks.ts', `import { spawn } from 'node:child_process';`],
    ['child_process in app', 'src/app/main.ts', `import { spawn } from 'node:child_process';`],
    ['process.exit', 'src/surfaces/cli/run.ts', `process.exit(1);`],
    ['Date.now', 'src/domain/graph.ts', `export const a = () => Date.now();`],
    ['new Date', 'src/store/store.ts', `export const a = () => new Date().toISOString();`],
    ['Math.random', 'src/kernel/ids.ts', `export const a = () => Math.random();`],
    ['zod outside of contract', 'src/surfaces/http/server.ts', `import * as z from 'zod';`],
    ['zod by its named export', 'src/contract/task.ts', `import { z } from 'zod';`],
    ['commander outside of the CLI', 'src/app/main.ts', `import { Command } from 'commander';`],
    ['a long file', 'src/kernel/ids.ts', 'export {};\n'.repeat(401)],
    ['a long test', 'src/kernel/ids.test.ts', 'export {};\n'.repeat(801)],
  ])('%s', (_name, path, source) => {
    expect(findViolations(path, source)).toHaveLength(1);
  });
});

describe('what is allowed is not reported', () => {
  test.each([
    [
      'doors below',
      'src/sync/fold.ts',
      `import { a } from '#store/store.ts';\nimport { b } from '#git/refs.ts';`,
    ],
    ['the own subfolder', 'src/store/open.ts', `import { a } from './sqlite/open.ts';`],
    ['the own parent', 'src/store/sqlite/open.ts', `import { a } from '../store.ts';`],
    ['types of a port', 'src/operations/context.ts', `import type { Git } from '#git/git.ts';`],
    [
      'everything in app',
      'src/app/main.ts',
      `import { a } from '#store/sqlite/open.ts';\nprocess.exit(Date.now());`,
    ],
    ['the clock', 'src/kernel/clock.ts', `export const now = () => new Date();`],
    ['a date from a value', 'src/domain/graph.ts', `export const a = (text: string) => new Date(text);`],
    [
      'SQL in store',
      'src/store/sqlite/open.ts',
      `export const a = (db: Db) => db.prepare('SELECT id FROM task');`,
    ],
    ['prose', 'src/operations/task-list.ts', `export const a = 'Select a task from the list';`],
    ['words in comments', 'src/domain/graph.ts', `// never Date.now() or import('#store/store.ts')`],
    ['spawning in git', 'src/git/run.ts', `import { spawn } from 'node:child_process';`],
    ['zod in contract', 'src/contract/task.ts', `import * as z from 'zod';`],
    ['zod when it is reached', 'src/operations/parse.ts', `export const a = () => import('zod');`],
    [
      'a test',
      'src/git/refs.test.ts',
      `import { test } from 'vitest';\nimport { a } from '../../tests/support/repo.ts';`,
    ],
    [
      'a reason',
      'src/git/a.ts',
      `/* oxlint-disable max-lines -- one table */\n${'export {};\n'.repeat(500)}`,
    ],
  ])('%s', (_name, path, source) => {
    expect(findViolations(path, source)).toEqual([]);
  });

  test('a file that does not parse is an error', () => {
    expect(() => findViolations('src/kernel/ids.ts', 'export const = 1;')).toThrow('does not parse');
  });
});
