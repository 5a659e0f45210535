// Writes what follows from the declarations: the flag table, the manifest of operations and the CLI reference.
// `--check` writes nothing and exits 1 when a committed file is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { FlagTable } from '#operations/flag-table.ts';
import { toCliReference } from './cli-reference.ts';
import { deriveFlagTable } from './derive-flag-table.ts';

const ROOT = join(import.meta.dirname, '..');
const HEADER =
  '// Generated from src/contract by scripts/generate.ts: change the declarations and run npm run generate.\n';

/** Path → text of every generated file. */
export function generateFiles(declarations: readonly Declaration[]): ReadonlyMap<string, string> {
  const table = deriveFlagTable(declarations);
  return new Map([
    ['src/operations/flag-table.generated.ts', toTableModule(table)],
    ['src/operations/manifest.generated.ts', toManifestModule(declarations)],
    ['docs/cli.md', toCliReference(declarations, table)],
  ]);
}

/**
 * One line an operation, so that a diff shows which one changed. Each is a function: as plain literals, all of them
 * were built by every command, which took a millisecond and a half.
 */
function toTableModule(table: FlagTable): string {
  const lines = Object.entries(table.entries).map(
    ([name, build]) => `    '${name}': () => (${toLiteral(build())}),\n`,
  );
  return [
    HEADER,
    "import type { FlagTable } from './flag-table.ts';\n\n",
    'export const FLAG_TABLE: FlagTable = {\n',
    `  actor: ${toLiteral(table.actor)},\n`,
    `  commands: ${toLiteral(table.commands)},\n`,
    '  entries: {\n',
    ...lines,
    '  },\n};\n',
  ].join('');
}

function toLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${/^[a-z_]+$/i.test(key) ? key : JSON.stringify(key)}:${toLiteral(item)}`)
    .join(',')}}`;
}

function toManifestModule(declarations: readonly Declaration[]): string {
  const lines = declarations.map(({ name }) => {
    const file = name.replaceAll('.', '-').replaceAll('_', '-');
    const exported = file.replaceAll(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase());
    return `  '${name}': () => import('./${file}.ts').then((module) => module.${exported}),\n`;
  });
  return [
    HEADER,
    "import type { AnyOperation } from './flag-table.ts';\n\n",
    'export const MANIFEST: Readonly<Record<string, () => Promise<AnyOperation>>> = {\n',
    ...lines,
    '};\n',
  ].join('');
}

function run(): void {
  const stale = [...generateFiles(OPERATIONS)].filter(([path, wanted]) => {
    const file = join(ROOT, path);
    return !existsSync(file) || readFileSync(file, 'utf8') !== wanted;
  });
  for (const [path, wanted] of stale) {
    if (process.argv.includes('--check')) {
      console.error(`${path} is stale: run npm run generate`);
      process.exitCode = 1;
      continue;
    }
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), wanted);
    console.log(`${path} written`);
  }
}

if (import.meta.main) run();
