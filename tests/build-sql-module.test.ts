import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findChanged, readMigrations, toLock, toModule } from '../scripts/build-sql-module.ts';

describe('readMigrations', () => {
  test('gives number, name and text in order', () => {
    using folder = tempFolder({ '0002_add_runs.sql': 'B;\n', '0001_init.sql': 'A;\r\n', 'README.txt': '' });
    expect(readMigrations(folder.path)).toEqual([
      { number: 1, name: 'init', raises: 'min_reader', sql: 'A;\n' },
      { number: 2, name: 'add_runs', raises: 'min_reader', sql: 'B;\n' },
    ]);
  });

  test('refuses a gap in the numbers', () => {
    using folder = tempFolder({ '0001_init.sql': '', '0003_late.sql': '' });
    expect(() => readMigrations(folder.path)).toThrow('Expected number 2, found 0003_late.sql');
  });

  test('refuses one number twice', () => {
    using folder = tempFolder({ '0001_init.sql': '', '0001_other.sql': '' });
    expect(() => readMigrations(folder.path)).toThrow('Expected number 2, found 0001_other.sql');
  });

  test('refuses a name that does not fit', () => {
    using folder = tempFolder({ '1-init.sql': '' });
    expect(() => readMigrations(folder.path)).toThrow('Not named NNNN_name.sql: 1-init.sql');
  });

  test('refuses an empty folder', () => {
    using folder = tempFolder({});
    expect(() => readMigrations(folder.path)).toThrow('No .sql file');
  });
});

describe('what a migration asks of older programs', () => {
  const before = Object.fromEntries(
    Array.from({ length: 11 }, (_, at) => [`${String(at + 1).padStart(4, '0')}_m.sql`, 'A;\n']),
  );

  test.each(['nothing', 'min_writer', 'min_reader'])('%s', (raises) => {
    using folder = tempFolder({ ...before, '0012_new.sql': `-- raises: ${raises}\n\nB;\n` });
    expect(readMigrations(folder.path).at(-1)).toMatchObject({ number: 12, raises });
  });

  test.each(['', 'B;\n', '-- raises: everything\n', '\n-- raises: nothing\n'])('must be said: %j', (sql) => {
    using folder = tempFolder({ ...before, '0012_new.sql': sql });
    expect(() => readMigrations(folder.path)).toThrow('0012_new.sql must begin with "-- raises: ');
  });
});

describe('the lock of the migrations', () => {
  const SOURCE = join(import.meta.dirname, '../src/store/migrations/sqlite');
  const now = toLock(readMigrations(SOURCE));

  test('holds every migration as it is', () => {
    expect(JSON.parse(readFileSync(join(SOURCE, 'migrations.lock.json'), 'utf8'))).toEqual(now);
  });

  test.each([
    ['one byte more in an old migration', 'A;\n', 'A; \n', '0001_init has changed'],
    ['another name', 'A;\n', undefined, '0001_init is gone'],
  ])('planted: %s', (_name, before, after, told) => {
    using old = tempFolder({ '0001_init.sql': before, '0002_more.sql': 'B;\n' });
    using changed = tempFolder({
      [after === undefined ? '0001_other.sql' : '0001_init.sql']: after ?? before,
      '0002_more.sql': 'B;\n',
    });
    const lock = toLock(readMigrations(old.path));
    const found = findChanged(lock, toLock(readMigrations(changed.path)));
    expect(found).toEqual([expect.stringContaining(told)]);
  });

  test('a new migration is no fault, nor are other line ends', () => {
    using old = tempFolder({ '0001_init.sql': 'A;\n' });
    using more = tempFolder({ '0001_init.sql': 'A;\r\n', '0002_more.sql': 'B;\n' });
    expect(findChanged(toLock(readMigrations(old.path)), toLock(readMigrations(more.path)))).toEqual([]);
  });
});

test('the module gives back the SQL it was made from', async () => {
  const sql = 'SELECT \'a\\n\', `id`, "${x}", $1 FROM task;\n-- \\` end\n';
  using folder = tempFolder({});
  const file = join(folder.path, 'migrations.generated.ts');
  writeFileSync(file, toModule([{ number: 1, name: 'init', raises: 'nothing', sql }]));
  const module: unknown = await import(file);
  expect(module).toMatchObject({ MIGRATIONS: [{ number: 1, name: 'init', raises: 'nothing', sql }] });
});

function tempFolder(files: Readonly<Record<string, string>>): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'forge-sql-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
