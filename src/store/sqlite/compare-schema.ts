import { type Database, lookInMemory, type Row } from './database.ts';
import { MIGRATIONS } from './migrations.generated.ts';

/** Every table, index and trigger with its definition, and every column with its kind. */
const PARTS = `SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'`;
const COLUMNS =
  'SELECT name, type, "notnull" AS required, dflt_value AS preset, pk, hidden FROM pragma_table_xinfo(?)';

/**
 * What differs between the tables of a database and those that the migrations make, in words; nothing where they are
 * alike. What a person added (a table or an index of their own) is not ours to judge.
 */
export function compareSchema(db: Database): string[] {
  const wanted = readWanted();
  const found = describe((sql, ...values) => db.all(sql, ...values));
  return [...wanted].flatMap(([key, part]) => {
    const there = found.get(key);
    if (there === undefined) return [`${key} is missing`];
    if (part.columns === undefined)
      return there.definition === part.definition ? [] : [`${key} is another one`];
    return compareColumns(key, part.columns, there.columns ?? new Map());
  });
}

interface Part {
  readonly definition: string;
  /** Of a table. */
  readonly columns: ReadonlyMap<string, string> | undefined;
}

function compareColumns(
  table: string,
  wanted: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): string[] {
  return [...wanted].flatMap(([name, kind]) => {
    const there = found.get(name);
    if (there === undefined) return [`${table} has no column ${name}`];
    return there === kind ? [] : [`the column ${name} of ${table} is another one`];
  });
}

function readWanted(): Map<string, Part> {
  return lookInMemory(
    MIGRATIONS.map(({ sql }) => sql),
    describe,
  );
}

function describe(all: (sql: string, ...values: string[]) => Row[]): Map<string, Part> {
  return new Map(
    all(PARTS).map(({ type, name, sql }) => [
      `${String(type)} ${String(name)}`,
      {
        // SQLite keeps the text that was typed; a renamed table gets quotes.
        definition: String(sql)
          .replaceAll(/--[^\n]*|["\s]+/g, ' ')
          .trim(),
        columns: type === 'table' ? readColumns(all, String(name)) : undefined,
      },
    ]),
  );
}

function readColumns(all: (sql: string, ...values: string[]) => Row[], table: string): Map<string, string> {
  return new Map(all(COLUMNS, table).map(({ name, ...kind }) => [String(name), JSON.stringify(kind)]));
}
