// Writes the SQL migrations into a module, because a bundle has no folder to read them from, and checks that none has
// changed that databases went through already (migrations.lock.json).
// `--check` writes nothing and exits 1 when the committed module is stale.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = 'src/store/migrations/sqlite';
const TARGET = 'src/store/sqlite/migrations.generated.ts';
const LOCK = 'src/store/migrations/sqlite/migrations.lock.json';
/** From this migration on each says what it asks of older programs; all before it were refused by them. */
const FIRST_WITH_FLOORS = 12;

export interface Migration {
  readonly number: number;
  readonly name: string;
  /** Which floor of the format it raises: what older programs may still do afterwards. */
  readonly raises: Raises;
  readonly sql: string;
}

const RAISES = ['nothing', 'min_writer', 'min_reader'] as const;
type Raises = (typeof RAISES)[number];

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
    const sql = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
    return { number: index + 1, name, raises: readRaises(sql, file, index + 1), sql };
  });
}

function readRaises(sql: string, file: string, number: number): Raises {
  if (number < FIRST_WITH_FLOORS) return 'min_reader';
  const [, said] = /^-- raises: (\w+)\n/.exec(sql) ?? [];
  const raises = RAISES.find((known) => known === said);
  if (raises !== undefined) return raises;
  throw new Error(`${file} must begin with "-- raises: <${RAISES.join(' | ')}>"`);
}

/** The digest of each migration, by its file's name. */
export function toLock(migrations: readonly Migration[]): Record<string, string> {
  return Object.fromEntries(
    migrations.map(({ number, name, sql }) => [
      `${String(number).padStart(4, '0')}_${name}`,
      createHash('sha256').update(sql).digest('hex'),
    ]),
  );
}

/**
 * What is wrong: migrations that databases went through already and that are others now. A new one is no fault; the
 * lock takes it in.
 */
export function findChanged(
  locked: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(locked).flatMap(([name, digest]) => {
    if (now[name] === digest) return [];
    const what = now[name] === undefined ? 'is gone' : 'has changed';
    return [`${name} ${what}, but databases went through it: make a new migration`];
  });
}

/** The text of the generated module. */
export function toModule(migrations: readonly Migration[]): string {
  const entries = migrations.map(
    ({ number, name, raises, sql }) =>
      `  {\n    number: ${number},\n    name: ${JSON.stringify(name)},\n    raises: ${JSON.stringify(raises)},\n    sql: ${toTemplate(sql)},\n  },\n`,
  );
  return [
    `// Generated from ${SOURCE} by scripts/build-sql-module.ts: change the .sql files and run npm run generate.\n`,
    "import type { Migration } from './migration.ts';\n\n",
    'export const MIGRATIONS: readonly Migration[] = [\n',
    ...entries,
    '];\n',
  ].join('');
}

/** As a template literal, so that a change of the SQL reads as lines in a diff. */
function toTemplate(sql: string): string {
  return `\`${sql.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``;
}

function run(): void {
  const migrations = readMigrations(join(ROOT, SOURCE));
  const lock = toLock(migrations);
  const locked = JSON.parse(readText(LOCK) ?? '{}') as Record<string, string>; // what this script wrote
  const changed = findChanged(locked, lock);
  for (const line of changed) console.error(line);
  if (changed.length > 0) process.exitCode = 1;
  else write(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
  write(TARGET, toModule(migrations));
}

function write(path: string, wanted: string): void {
  if (readText(path) === wanted) return;
  if (process.argv.includes('--check')) {
    console.error(`${path} is stale: run npm run generate`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(join(ROOT, path), wanted);
  console.log(`${path} written`);
}

function readText(path: string): string | undefined {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined;
}

if (import.meta.main) run();
