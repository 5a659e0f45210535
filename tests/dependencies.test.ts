import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

it("[S129] raw SQL through Node's own SQLite in one file, commander in one, no ORM", () => {
  expect(filesThatImport('node:sqlite')).toEqual(['src/store/sqlite/database.ts']);
  expect(filesThatImport('commander')).toEqual(['src/surfaces/cli/command-help.ts']);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  expect(dependencies, 'a user installs no dependency').toBeUndefined();
  const orms = /kysely|drizzle|prisma|sequelize|typeorm|mikro-orm|knex|objection/;
  expect(Object.keys(devDependencies).filter((name) => orms.test(name))).toEqual([]);
});

/** Values only; types are gone when the program runs. */
function filesThatImport(name: string): string[] {
  return globSync('src/**/*.ts', { cwd: ROOT })
    .filter((path) => !/\.test\.ts$|-behaviour\.ts$/.test(path))
    .filter((path) => {
      const source = readFileSync(join(ROOT, path), 'utf8');
      return new RegExp(`^import (?!type )[^;]* from '${name}'`, 'm').test(source);
    });
}
