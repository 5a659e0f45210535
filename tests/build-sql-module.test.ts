import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMigrations, toModule } from '../scripts/build-sql-module.ts';

describe('readMigrations', () => {
  test('gives number, name and text in order', () => {
    using folder = tempFolder({ '0002_add_runs.sql': 'B;\n', '0001_init.sql': 'A;\r\n', 'README.txt': '' });
    expect(readMigrations(folder.path)).toEqual([
      { number: 1, name: 'init', sql: 'A;\n' },
      { number: 2, name: 'add_runs', sql: 'B;\n' },
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

test('the module gives back the SQL it was made from', async () => {
  const sql = 'SELECT \'a\\n\', `id`, "${x}", $1 FROM task;\n-- \\` end\n';
  using folder = tempFolder({});
  const file = join(folder.path, 'migrations.generated.ts');
  writeFileSync(file, toModule([{ number: 1, name: 'init', sql }]));
  const module: unknown = await import(file);
  expect(module).toMatchObject({ MIGRATIONS: [{ number: 1, name: 'init', sql }] });
});

function tempFolder(files: Readonly<Record<string, string>>): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'forge-sql-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
