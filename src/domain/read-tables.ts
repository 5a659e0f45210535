/** Words that are values in an array of their own line, and no name of a table. */
const VALUES = new Set(['true', 'false', 'inf', 'nan']);

/**
 * The lines of a TOML file that are in tables of the wanted names. Undefined where it cannot be told from the lines
 * alone: a text over several lines, a wanted table that is written as a value, a line that is a table or an array.
 */
export function readTables(text: string, wanted: RegExp): string | undefined {
  if (text.includes('"""') || text.includes("'''")) return undefined;
  const kept: string[] = [];
  let table = '';
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    if (/^\s*\[/.test(line) && !isArrayLine(line)) {
      const [, name] = /^\s*\[{1,2}\s*([A-Za-z_][\w-]*(?:[.][\w-]+)*)\s*\]{1,2}\s*(?:#.*)?$/.exec(line) ?? [];
      if (name === undefined || VALUES.has(name)) return undefined;
      table = name;
    }
    if (wanted.test(table)) kept.push(line);
    else if (isWantedValue(line, table, wanted)) return undefined;
  }
  return kept.join('\n');
}

/** One of several lines of an array, which goes on after its last comma. */
function isArrayLine(line: string): boolean {
  return line.trimEnd().endsWith(',') || /,\s*#/.test(line);
}

/** `scripts = { … }`, `poe.tasks.test = "…"`: a table that is wanted, or one above it, which may have it inside. */
function isWantedValue(line: string, table: string, wanted: RegExp): boolean {
  const at = line.indexOf('=');
  const key = line.slice(0, Math.max(at, 0)).trim();
  const value = line.slice(at + 1).trim();
  if (key === '' || /[[\]{}]/.test(key)) return false;
  const name = key.replaceAll(/["'\s]/g, '');
  const path = table === '' ? name : `${table}.${name}`;
  if (wanted.test(path) || key.includes('\\')) return true;
  if (!value.startsWith('{')) return false;
  const names = value.split(/[^\w-]+/).filter((one) => one !== '');
  return /^(?:tool|project)(?:[.][\w-]+)?$/.test(path) || names.some((one) => wanted.test(`${path}.${one}`));
}
