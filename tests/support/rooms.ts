import { posix } from 'node:path';
import { parseSource, type Import } from './imports.ts';

/** What a room may import besides its own files. */
interface Room {
  readonly rooms: readonly string[];
  /** Rooms whose types alone it may import. */
  readonly types?: readonly string[];
  readonly packages?: readonly string[];
  readonly node: boolean;
}

const PURE = ['kernel', 'contract', 'domain'];

/** The rooms and the arrows between them; every import in src is held against this table. */
export const ROOMS: Readonly<Record<string, Room>> = {
  kernel: { rooms: [], node: false },
  contract: { rooms: ['kernel'], packages: ['zod'], node: false },
  domain: { rooms: ['kernel', 'contract'], packages: ['unbash'], node: false },
  access: { rooms: PURE, node: false },
  store: { rooms: PURE, node: true },
  git: { rooms: PURE, node: true },
  process: { rooms: PURE, node: true },
  models: { rooms: PURE, node: true },
  // Of process it has the locks of files, which name who holds them.
  sync: { rooms: [...PURE, 'store', 'git', 'process'], node: true },
  agent: { rooms: [...PURE, 'models', 'process'], node: true },
  executors: { rooms: [...PURE, 'process', 'git', 'agent'], node: true },
  engine: { rooms: [...PURE, 'store', 'git', 'process', 'sync', 'executors'], node: true },
  operations: {
    rooms: [...PURE, 'access', 'store', 'sync', 'agent', 'engine', 'executors'],
    types: ['git', 'process', 'models'],
    packages: ['@dagrejs/dagre'],
    node: true,
  },
  'surfaces/cli': {
    rooms: ['kernel', 'contract', 'access', 'operations'],
    packages: ['commander'],
    node: true,
  },
  'surfaces/http': { rooms: ['kernel', 'contract', 'access', 'operations'], node: true },
  'surfaces/mcp': {
    rooms: ['kernel', 'contract', 'access', 'operations'],
    packages: ['@modelcontextprotocol/server'],
    node: true,
  },
  'surfaces/repl': { rooms: ['kernel', 'contract', 'access', 'operations'], node: true },
};

/** Libraries that a cold read must not load, and the one room that may import them statically. */
const LAZY: Readonly<Record<string, string>> = {
  zod: 'contract',
  commander: 'surfaces/cli',
  unbash: 'domain',
};

const TEST_PACKAGES = ['vitest', 'fast-check'];
const SPAWNERS = ['process', 'git'];
const CLOCK = ['Date.now()', 'new Date()', 'Date()', 'Math.random()'];
// Upper-case keywords only, as the store writes them: prose may say "select a task from the list".
const SQL =
  /^\s*(SELECT\s[^]*\sFROM\s|SELECT\s+\w+\(|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|WITH\s+(RECURSIVE\s+)?\w+[^]*\sAS\s*\(|(CREATE|DROP|ALTER)\s+(UNIQUE\s+|VIRTUAL\s+)?(TABLE|INDEX|VIEW|TRIGGER)\s|PRAGMA\s+\w|BEGIN(\s+(IMMEDIATE|EXCLUSIVE|DEFERRED|TRANSACTION))?;?\s*$|COMMIT;?\s*$|ROLLBACK)/;
const MAX_LINES = { source: 400, test: 800 };

/** What a file (its path from the root, `src/store/store.ts`) breaks, one sentence each. */
export function findViolations(path: string, source: string): readonly string[] {
  const room = roomOf(path);
  if (room === undefined || (room !== 'app' && !Object.hasOwn(ROOMS, room))) return [`${path}: no such room`];
  const test = isTest(path);
  const facts = parseSource(path, source);
  const found = facts.imports.flatMap((one) => judgeImport(path, room, one) ?? []);
  if (facts.reexports_all) found.push('a barrel: `export *` from another file');
  if (room !== 'store' && !test) {
    if (facts.calls.includes('.prepare()')) found.push('.prepare() outside of store');
    const sql = facts.strings.find((text) => SQL.test(text));
    if (sql !== undefined) found.push(`SQL outside of store: ${sql.trim().slice(0, 40)}`);
  }
  if (room !== 'app' && !test) {
    if (facts.calls.includes('process.exit()')) found.push('process.exit() outside of bin and app');
    const clock = facts.calls.find((call) => CLOCK.includes(call));
    if (clock !== undefined && path !== 'src/kernel/clock.ts')
      found.push(`${clock}: take a clock as argument`);
  }
  const budget = test ? MAX_LINES.test : MAX_LINES.source;
  // The lint directive with its reason on the first line is the one way out, and the linter honours the same.
  const excused = path.endsWith('.generated.ts') || /^\/[/*] oxlint-disable max-lines -- \S/.test(source);
  if (facts.lines > budget && !excused) found.push(`${facts.lines} lines, the budget is ${budget}`);
  return found.map((sentence) => `${path}: ${sentence}`);
}

function judgeImport(path: string, room: string, { specifier, kind, namespace }: Import): string | undefined {
  const test = isTest(path);
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    if (roomOf(target) === room || (test && target.startsWith('tests/support/'))) return undefined;
    return `${specifier} leaves the room`;
  }
  if (specifier.startsWith('#')) return judgeRoom(room, specifier, kind);
  if (specifier.startsWith('node:')) return test ? undefined : judgeBuiltin(room, specifier);
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (test && TEST_PACKAGES.includes(name)) return undefined;
  // Measured: with the named export `z` a bundle keeps all of zod and is 4.8 times as large.
  if (name === 'zod' && kind === 'static' && !namespace) return `write import * as z from 'zod'`;
  const owner = LAZY[name];
  if (owner !== undefined && owner !== room) {
    if (kind === 'static') return `${name} may be imported statically in ${owner} only`;
    return room === 'app' || ROOMS[room]?.node ? undefined : `${room} may not import ${name}`;
  }
  if (room === 'app' || ROOMS[room]?.packages?.includes(name)) return undefined;
  return `${room} may not import ${name}`;
}

function judgeRoom(room: string, specifier: string, kind: Import['kind']): string | undefined {
  const parts = specifier.slice(1).split('/');
  const target = parts.slice(0, parts[0] === 'surfaces' ? 2 : 1).join('/');
  if (target === room) return `${specifier}: inside a room paths are relative`;
  if (room === 'app') return undefined;
  const allowed = [...(ROOMS[room]?.rooms ?? []), ...(kind === 'type' ? (ROOMS[room]?.types ?? []) : [])];
  if (!allowed.includes(target)) return `${room} may not import ${specifier}`;
  return parts.length > 2 ? `${specifier} is private to ${target}` : undefined;
}

function judgeBuiltin(room: string, specifier: string): string | undefined {
  if (room !== 'app' && !ROOMS[room]?.node) return `${room} may not import ${specifier}`;
  if (specifier !== 'node:child_process' || SPAWNERS.includes(room)) return undefined;
  return `${specifier} outside of process and git`;
}

/** `store` for `src/store/sqlite/open.ts`, `surfaces/cli` for a file of a surface, undefined outside of every room. */
function roomOf(path: string): string | undefined {
  const [top, room, next, more] = path.split('/');
  if (top !== 'src' || room === undefined || next === undefined) return undefined;
  if (room !== 'surfaces') return room;
  return more === undefined ? undefined : `surfaces/${next}`;
}

/** Tests, and the behavioural suites that several tests run. */
function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.endsWith('-behaviour.ts');
}
