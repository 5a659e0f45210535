import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { McpClientName, McpScope } from '#contract/mcp-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toFileError } from './file-error.ts';
import type { Environment } from './forge-home.ts';
import type { ForgeProgram } from './forge-program.ts';
import { findInJsonc, JsoncShapeFault, removeFromJsonc, setInJsonc } from './mcp-clients/edit-jsonc.ts';
import { findInToml, removeTomlTable, setTomlTable } from './mcp-clients/edit-toml.ts';
import { JsoncFault } from './mcp-clients/parse-jsonc.ts';
import { TomlFault } from './mcp-clients/scan-toml.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';
import { readRegularFile } from './read-regular-file.ts';

export interface McpClientRequest {
  readonly client: McpClientName;
  readonly scope: McpScope | undefined;
  readonly want: 'entry' | 'no entry';
  /** Root of the working tree around; undefined outside of every repository. */
  readonly root: string | undefined;
  readonly program: ForgeProgram;
  readonly homeDir: string;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}

export interface McpClientChange {
  readonly scope: McpScope;
  readonly path: string;
  readonly action: 'created' | 'added' | 'replaced' | 'removed' | 'unchanged';
  /** As it stands in the file; null where it is to be gone. */
  readonly entry: string | null;
  /** What the file is to hold; undefined where there is nothing to write. */
  readonly text: string | undefined;
  /** What the plan was made for. */
  readonly before: string | undefined;
}

interface Client {
  readonly usual: McpScope;
  /** The file, from the root of the repository and for the whole person. */
  readonly files: Readonly<Record<McpScope, (request: McpClientRequest & { root: string }) => string>>;
  readonly format: 'jsonc' | 'toml';
  /** Where the entry stands in it. */
  readonly at: (text: string) => readonly string[];
  readonly entry: (words: readonly string[]) => Readonly<Record<string, unknown>>;
}

const NAME = 'forge';
/** Both editors put the folder in, and start a server wherever they themselves were started. */
const FOLDER = ['-C', '${workspaceFolder}'];

const CLIENTS: Readonly<Record<McpClientName, Client>> = {
  claude: {
    usual: 'project',
    files: {
      project: ({ root }) => join(root, '.mcp.json'),
      user: ({ homeDir }) => join(homeDir, '.claude.json'),
    },
    format: 'jsonc',
    at: () => ['mcpServers', NAME],
    entry: ([command, ...args]) => ({ type: 'stdio', command, args }),
  },
  codex: {
    usual: 'user',
    files: {
      project: ({ root }) => join(root, '.codex', 'config.toml'),
      user: ({ homeDir, env }) => join(env['CODEX_HOME'] || join(homeDir, '.codex'), 'config.toml'),
    },
    format: 'toml',
    at: () => ['mcp_servers', NAME],
    entry: ([command, ...args]) => ({ command, args }),
  },
  gemini: {
    usual: 'user',
    files: {
      project: ({ root }) => join(root, '.gemini', 'settings.json'),
      user: ({ homeDir }) => join(homeDir, '.gemini', 'settings.json'),
    },
    format: 'jsonc',
    at: () => ['mcpServers', NAME],
    entry: ([command, ...args]) => ({ command, args }),
  },
  opencode: {
    usual: 'project',
    files: {
      project: ({ root }) => firstThere([join(root, 'opencode.json'), join(root, 'opencode.jsonc')]),
      user: ({ homeDir, env }) => {
        const folder = join(env['XDG_CONFIG_HOME'] || join(homeDir, '.config'), 'opencode');
        return firstThere([join(folder, 'opencode.json'), join(folder, 'opencode.jsonc')]);
      },
    },
    format: 'jsonc',
    at: (text) => (hasServers(text) ? ['mcp', 'servers', NAME] : ['mcp', NAME]),
    entry: (words) => ({ type: 'local', command: words, enabled: true }),
  },
  cursor: {
    usual: 'project',
    files: {
      project: ({ root }) => join(root, '.cursor', 'mcp.json'),
      user: ({ homeDir }) => join(homeDir, '.cursor', 'mcp.json'),
    },
    format: 'jsonc',
    at: () => ['mcpServers', NAME],
    entry: ([command, script, ...args]) => ({ command, args: [script, ...FOLDER, ...args] }),
  },
  vscode: {
    usual: 'project',
    files: {
      project: ({ root }) => join(root, '.vscode', 'mcp.json'),
      user: ({ homeDir, env, platform }) => join(vscodeFolder(homeDir, env, platform), 'User', 'mcp.json'),
    },
    format: 'jsonc',
    at: () => ['servers', NAME],
    entry: ([command, script, ...args]) => ({ type: 'stdio', command, args: [script, ...FOLDER, ...args] }),
  },
};

/** What has to be written where; nothing is touched. Throws invalid_input for a file that cannot be understood. */
export function planMcpClient(request: McpClientRequest): McpClientChange {
  const client = CLIENTS[request.client];
  const scope = request.scope ?? client.usual;
  if (scope === 'project' && request.root === undefined) {
    throw new ForgeError('not_a_repository', 'Not inside a git repository', {
      hint: `forge mcp install --client ${request.client} --scope user`,
    });
  }
  const path = findFile(client, scope, { ...request, root: request.root ?? '' });
  const before = readText(path);
  const change = edit(client, { ...request, path, text: before ?? '' });
  return { scope, path, before, ...change, action: nameAction(before, change, request.want) };
}

/** An entry that is there, in the file of any client. */
export interface McpEntry {
  readonly client: McpClientName;
  readonly scope: McpScope;
  readonly path: string;
  /** The command and its arguments. */
  readonly words: readonly string[];
}

/** Forge's entries in the files of all clients. Files that cannot be read or understood have none. */
export function listMcpEntries(
  request: Omit<McpClientRequest, 'client' | 'scope' | 'want' | 'program'>,
): McpEntry[] {
  const names = Object.keys(CLIENTS) as McpClientName[]; // its keys
  return names.flatMap((client) =>
    (['project', 'user'] as const).flatMap((scope): McpEntry[] => {
      const { root } = request;
      if (scope === 'project' && root === undefined) return [];
      try {
        const asked = {
          ...request,
          client,
          scope,
          want: 'entry',
          program: NO_PROGRAM,
          root: root ?? '',
        } as const;
        const path = findFile(CLIENTS[client], scope, asked);
        const words = readWords(CLIENTS[client], readText(path) ?? '');
        return words === undefined ? [] : [{ client, scope, path, words }];
      } catch {
        return [];
      }
    }),
  );
}

const NO_PROGRAM: ForgeProgram = { node: '', script: '' };

function readWords({ format, at }: Client, text: string): readonly string[] | undefined {
  if (text.trim() === '') return undefined;
  const entry = format === 'toml' ? findInToml(text, at(text)) : findInJsonc(text, at(text));
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { command, args } = entry as { command?: unknown; args?: unknown };
  const words = [command, args].flat().filter((word) => typeof word === 'string');
  return words.length === 0 ? undefined : words;
}

/** Carries the plan out. Throws version_conflict when the file was changed since. */
export function applyMcpClient({ path, text, before }: McpClientChange): void {
  if (text === undefined) return;
  try {
    if (readText(path) !== before)
      throw new ForgeError('version_conflict', `${path} was changed at the same moment`, {
        hint: 'Try once more',
      });
    mkdirSync(dirname(path), { recursive: true });
    // It may hold secrets of others, so nobody gets to see more of it than before.
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    replaceFile(path, text, mode === undefined ? undefined : mode & 0o777);
  } catch (error) {
    throw toFileError(error, `Could not write ${path}`);
  }
}

interface Edit {
  readonly text: string | undefined;
  readonly entry: string | null;
}

function edit(
  { format, at, entry }: Client,
  { path, text, want, program }: McpClientRequest & { path: string; text: string },
): Edit {
  try {
    const values = entry([program.node, program.script, 'mcp']);
    const after = format === 'toml' ? editToml(text, want, values) : editJson(text, want, values, at);
    const place = format === 'toml' ? ['mcp_servers', NAME] : at(text);
    return {
      text: after === text ? undefined : after,
      entry: want === 'entry' ? showEntry(format, place, values) : null,
    };
  } catch (error) {
    throw toFault(error, path, text);
  }
}

function editJson(
  text: string,
  want: 'entry' | 'no entry',
  values: Readonly<Record<string, unknown>>,
  at: Client['at'],
): string {
  const isEmpty = text.trim() === '';
  if (want === 'no entry') return isEmpty ? text : removeEntry(text, at(text));
  const start = isEmpty ? '{}\n' : text;
  const place = at(start);
  const there = findInJsonc(start, place);
  if (typeof there !== 'object' || there === null || Array.isArray(there))
    return setInJsonc(start, place, values);
  // Key by key, so that what somebody added (an environment, a time-out) stays.
  return Object.entries(values).reduce(
    (changed, [key, value]) => setInJsonc(changed, [...place, key], value),
    start,
  );
}

/** A file with nothing in it is a fault to Claude Code, and an empty list of servers to all of them. */
function removeEntry(text: string, place: readonly string[]): string {
  const after = removeFromJsonc(text, place);
  const isBare = after !== text && /^\s*\{\s*\}\s*$/.test(after);
  return isBare ? setInJsonc(after, place.slice(0, 1), {}) : after;
}

function editToml(
  text: string,
  want: 'entry' | 'no entry',
  values: Readonly<Record<string, unknown>>,
): string {
  const path = ['mcp_servers', NAME];
  if (want === 'no entry') return removeTomlTable(text, path);
  return setTomlTable(text, path, values as Record<string, string | string[]>); // a command and its arguments
}

function showEntry(
  format: Client['format'],
  place: readonly string[],
  values: Readonly<Record<string, unknown>>,
): string {
  if (format === 'toml') return editToml('', 'entry', values);
  return `${JSON.stringify(
    place.reduceRight<unknown>((inner, key) => ({ [key]: inner }), values),
    null,
    2,
  )}\n`;
}

function nameAction(
  before: string | undefined,
  { text }: Edit,
  want: 'entry' | 'no entry',
): McpClientChange['action'] {
  if (text === undefined) return 'unchanged';
  if (want === 'no entry') return 'removed';
  if (before === undefined) return 'created';
  return new RegExp(`[".]${NAME}["\\]]`).test(before) ? 'replaced' : 'added';
}

function toFault(error: unknown, path: string, text: string): unknown {
  // A text of many millions of escapes is more than the regular expressions can take.
  if (error instanceof RangeError) return toFault(new JsoncShapeFault('it is too large'), path, text);
  const isFault =
    error instanceof JsoncFault || error instanceof TomlFault || error instanceof JsoncShapeFault;
  if (!isFault) return error;
  const line = 'offset' in error ? text.slice(0, error.offset).split('\n').length : undefined;
  const where = line === undefined ? path : `${path}, line ${line}`;
  return new ForgeError('invalid_input', `Cannot change ${where}: ${error.message}`, {
    hint: 'Mend the file, or add the entry by hand: --dry-run on an empty file shows it',
    details: { path, ...(line !== undefined && { line }) },
    cause: error,
  });
}

function readText(path: string): string | undefined {
  const bytes = readRegularFile(path, { links: 'follow', max_bytes: LIMITS.git_file_bytes });
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ForgeError('invalid_input', `Cannot change ${path}: it is not valid UTF-8`, {
      details: { path },
      cause: error,
    });
  }
}

/** Where the entry stands. A file of the repository is not written behind a link that leads out of it: others put it there. */
function findFile(client: Client, scope: McpScope, request: McpClientRequest & { root: string }): string {
  const named = client.files[scope](request);
  const path = followLinks(named);
  if (scope === 'user' || isBelow(request.root, path)) return path;
  throw new ForgeError('invalid_input', `${named} leads out of this repository by a link`, {
    hint: `Put a file of this repository in its place, or: forge mcp install --client ${request.client} --scope user`,
    details: { path: named, target: path },
  });
}

/** Whether a file lies there, once the links of the folders that are there were followed. */
function isBelow(root: string, path: string): boolean {
  let there = path;
  while (there !== root && lookAt(there) === undefined) there = dirname(there);
  const [real, top] = [followLinks(there), followLinks(root)];
  return real === top || real.startsWith(`${top}${sep}`);
}

/** A configuration that is kept elsewhere and linked here stays so. */
function followLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function firstThere(paths: readonly [string, ...string[]]): string {
  return paths.find((path) => statSync(path, { throwIfNoEntry: false }) !== undefined) ?? paths[0];
}

/** Its second generation groups the servers; whoever has such a file keeps its form. */
function hasServers(text: string): boolean {
  const servers = text.trim() === '' ? undefined : findInJsonc(text, ['mcp', 'servers']);
  return typeof servers === 'object' && servers !== null && !('type' in servers);
}

function vscodeFolder(homeDir: string, env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(homeDir, 'Library', 'Application Support', 'Code');
  if (platform === 'win32') return join(env['APPDATA'] || join(homeDir, 'AppData', 'Roaming'), 'Code');
  return join(env['XDG_CONFIG_HOME'] || join(homeDir, '.config'), 'Code');
}
