// Writes the SQL migrations into a module, because a bundle has no folder to read them from.
// `--check` writes nothing and exits 1 when the committed module is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = 'src/store/migrations/sqlite';
const TARGET = 'src/store/sqlite/migrations.generated.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The migrations of a folder in order. Throws on a name that does not fit and on a gap in the numbers. */
export function readMigrations(folder: string): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .toSorted();
  if (files.length === 0) throw new Error(`No .sql file in ${folder}`);
  return files.map((file, index) => {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (number === undefined || name === undefined) throw new Error(`Not named NNNN_name.sql: ${file}`);
    if (Number(number) !== index + 1) throw new Error(`Expected number ${index + 1}, found ${file}`);
    return {
      number: index + 1,
      name,
      sql: readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n'),
    };
  });
}

/** The text of the generated module. */
export function toModule(migrations: readonly Migration[]): string {
  const entries = migrations.map(
    ({ number, name, sql }) =>
      `  {\n    number: ${number},\n    name: ${JSON.stringify(name)},\n    sql: ${toTemplate(sql)},\n  },\n`,
  );
  return [
    `// Generated from ${SOURCE} by scripts/build-sql-module.ts: change the .sql files and run npm run generate.\n`,
    'export const MIGRATIONS: readonly { readonly number: number; readonly name: string; readonly sql: string }[] = [\n',
    ...entries,
    '];\n',
  ].join('');
}

/** As a template literal, so that a change of the SQL reads as lines in a diff. */
function toTemplate(sql: string): string {
  return `\`${sql.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``;
}

function run(): void {
  const wanted = toModule(readMigrations(join(ROOT, SOURCE)));
  const target = join(ROOT, TARGET);
  const found = existsSync(target) ? readFileSync(target, 'utf8') : undefined;
  if (found === wanted) return;
  if (process.argv.includes('--check')) {
    console.error(`${TARGET} is stale: run npm run generate`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(target, wanted);
  console.log(`${TARGET} written`);
}

if (import.meta.main) run();
