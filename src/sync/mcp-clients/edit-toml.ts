import { scanToml, TomlFault, type TomlStatement } from './scan-toml.ts';

type Path = readonly string[];

/**
 * The text with a table of its own at the path that has these values; other values in it stay, and every byte outside.
 * Throws TomlFault for what cannot be read, and where the table is written in a form that cannot be changed so.
 */
export function setTomlTable(text: string, path: Path, values: Readonly<Record<string, TomlValue>>): string {
  const { header, body } = findTable(scanToml(text), path);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${toToml(value)}${eol}`);
  if (header === undefined) {
    const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
    return `${text}${gap}[${path.join('.')}]${eol}${lines.join('')}`;
  }
  let changed = text;
  // From the end, so that the places before stay where they are.
  const missing: string[] = [];
  const edits: { start: number; end: number; by: string }[] = [];
  for (const [key, value] of Object.entries(values)) {
    const there = body.find(({ keys }) => keys.length === 1 && keys[0] === key)?.value;
    if (there !== undefined) edits.push({ ...there, by: toToml(value) });
    else missing.push(`${key} = ${toToml(value)}${eol}`);
  }
  const gap = text.slice(0, header.end).endsWith('\n') ? '' : eol;
  if (missing.length > 0) edits.push({ start: header.end, end: header.end, by: gap + missing.join('') });
  for (const { start, end, by } of edits.toSorted((a, b) => b.start - a.start))
    changed = changed.slice(0, start) + by + changed.slice(end);
  return changed;
}

/** The text without the table and the tables below it. */
export function removeTomlTable(text: string, path: Path): string {
  const statements = scanToml(text);
  findTable(statements, path);
  const ranges: { start: number; end: number }[] = [];
  for (const [index, statement] of statements.entries()) {
    if (statement.kind === 'value' || !startsWith(statement.keys, path)) continue;
    const next = statements.findIndex((one, at) => at > index && one.kind !== 'value');
    const last = statements[(next === -1 ? statements.length : next) - 1] ?? statement;
    ranges.push({ start: statement.start, end: last.end });
  }
  return ranges.reduceRight((shorter, { start, end }) => {
    const before = shorter.slice(0, start);
    // The blank line that was put before it goes with it.
    const gap = /(?:^|\n)(\r?\n)$/.exec(before)?.[1]?.length ?? 0;
    const isLast = end >= shorter.length;
    return before.slice(0, isLast ? start - gap : start) + shorter.slice(end);
  }, text);
}

/** The values of the table that are written as JSON has them, as Forge writes them; undefined where there is no table. */
export function findInToml(text: string, path: Path): Readonly<Record<string, unknown>> | undefined {
  const { header, body } = findTable(scanToml(text), path);
  if (header === undefined) return undefined;
  return Object.fromEntries(
    body.flatMap(({ keys, value }) => {
      const [key] = keys;
      if (value === undefined || key === undefined || keys.length > 1) return [];
      try {
        return [[key, JSON.parse(text.slice(value.start, value.end)) as unknown]];
      } catch {
        return []; // A form of TOML alone.
      }
    }),
  );
}

type TomlValue = string | readonly string[];

/** JSON's way to write texts and lists of them is one of TOML's. */
function toToml(value: TomlValue): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : `[${value.map((one) => JSON.stringify(one)).join(', ')}]`;
}

interface FoundTable {
  readonly header: TomlStatement | undefined;
  readonly body: readonly TomlStatement[];
}

function findTable(statements: readonly TomlStatement[], path: Path): FoundTable {
  let table: Path = [];
  let header: TomlStatement | undefined;
  const body: TomlStatement[] = [];
  for (const statement of statements) {
    if (statement.kind !== 'value') {
      table = statement.keys;
      if (!isSame(table, path)) continue;
      if (statement.kind === 'list of tables' || header !== undefined)
        throw new TomlFault(`${path.join('.')} stands in a form that Forge does not change`, statement.start);
      header = statement;
      continue;
    }
    if (isSame(table, path)) {
      body.push(statement);
      continue;
    }
    // `mcp_servers = { forge = … }`, `mcp_servers.forge.command = …`, `forge = { … }` in its parent.
    const whole = [...table, ...statement.keys];
    const inTheWay = table.length < path.length && (startsWith(whole, path) || startsWith(path, whole));
    if (inTheWay)
      throw new TomlFault(`${whole.join('.')} stands in a form that Forge does not change`, statement.start);
  }
  return { header, body };
}

function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && startsWith(one, other);
}

function startsWith(whole: Path, beginning: Path): boolean {
  return whole.length >= beginning.length && beginning.every((key, at) => whole[at] === key);
}
