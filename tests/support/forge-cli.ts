import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task, TaskView } from '#contract/task.ts';
import { ERROR_CODES, type ErrorBody } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { FORGE } from './forge-program.ts';
import { tempFolder, tempRepo, testGitEnv, toTempRepo, type TempFolder, type TempRepo } from './temp-repo.ts';

export { FORGE };

/** Shared by all tests: every place has an empty home, and compiling the bundle anew would double each start. */
const COMPILE_CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/forge-e2e');

export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  /** As a shell shows it: 128 and the number of the signal for a killed one. */
  readonly exit: number;
}

export interface Failure {
  readonly exit: number;
  readonly stderr: string;
  readonly error: ErrorBody;
}

export interface RunOptions {
  readonly cwd?: string;
  /** Over the isolated environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What the program reads; nothing at all when left out, and never a terminal. */
  readonly stdin?: string;
}

/** Runs forge in one place. Every call is a process of its own, so several may run at once. */
export interface ForgeCli {
  /** Whatever it ends with. */
  run(...args: string[]): Promise<ProgramResult>;
  /** Must succeed without a word on stderr: what it printed, without the last newline. */
  text(...args: string[]): Promise<string>;
  /** Must succeed with exactly one JSON document that keeps the schema of the operation's declaration. */
  json<T = Task>(...args: string[]): Promise<T>;
  /** Must fail, and the same way with and without --json; both forms are held against the table of errors. */
  fails(...args: string[]): Promise<Failure>;
  create(title: string, ...flags: string[]): Promise<Task>;
  show(id: string): Promise<TaskView>;
  with(options: RunOptions): ForgeCli;
}

/** A place where nothing of the person who runs the tests can be seen: home, forge home, git configuration. */
export interface ForgePlace extends ForgeCli {
  readonly home: string;
  /** On the PATH of everything that runs here: `forge` and `forge-ctl` as npm would link them. */
  readonly bin: string;
  readonly env: NodeJS.ProcessEnv;
  /** A program that is not forge, in the same environment. */
  exec(command: string, args: readonly string[], options?: RunOptions): Promise<ProgramResult>;
  bash(script: string, options?: RunOptions): Promise<ProgramResult>;
}

export interface ForgeProject extends ForgePlace, TempRepo {
  /** A second SQLite client on `.forge/forge.db`, by way of the link. Close it, or say `using`. */
  openDatabase(): DatabaseSync;
}

/**
 * A git repository of its own with a Forge project in it, and nothing else around.
 *
 *     await using project = await forgeProject();
 */
export async function forgeProject(
  options: { prefix?: string; name?: string; folder?: string } = {},
): Promise<ForgeProject> {
  const repo = toTempRepo(await tempFolder(options.folder === undefined ? {} : { folder: options.folder }));
  const place = await openPlace(repo);
  // With the times of the template: a file of this moment is looked at again by the next command.
  cpSync(await getTemplate(options), repo.path, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
  chmodSync(join(repo.path, '.git', 'forge'), 0o700); // the copy of a folder has the umask's
  return {
    ...repo,
    ...place,
    openDatabase: () => new DatabaseSync(join(repo.path, '.forge', 'forge.db')),
  };
}

/** What `forge init` makes is the same each time, and a copy of it takes a tenth of the time. */
const templates = new Map<string, Promise<string>>();

function getTemplate(options: { prefix?: string; name?: string; folder?: string }): Promise<string> {
  const key = JSON.stringify(options);
  const known = templates.get(key);
  if (known !== undefined) return known;
  const made = findTemplate(key, options);
  templates.set(key, made);
  return made;
}

/** Where this run of the tests keeps them for all of its processes: see `memory-folder.ts`. */
async function findTemplate(key: string, options: Parameters<typeof makeTemplate>[0]): Promise<string> {
  const folder = process.env['TEST_TEMPLATES'];
  if (folder === undefined) return makeTemplate(options);
  const path = join(folder, createHash('sha256').update(key).digest('hex'));
  if (existsSync(path)) return path;
  const made = await makeTemplate(options);
  try {
    renameSync(made, path);
  } catch {
    // Somebody was faster, or it lies elsewhere: this one is as good.
    return made;
  }
  return path;
}

async function makeTemplate(options: { prefix?: string; name?: string; folder?: string }): Promise<string> {
  const repo = await tempRepo(options.folder === undefined ? {} : { folder: options.folder });
  process.once('exit', () => rmSync(dirname(repo.path), { recursive: true, force: true }));
  const place = await openPlace(repo);
  const flags = [
    ...(options.prefix === undefined ? [] : ['--prefix', options.prefix]),
    ...(options.name === undefined ? [] : ['--name', options.name]),
  ];
  await place.json('init', ...flags);
  return repo.path;
}

/** The same without a project, for what happens before there is one. */
export async function forgeFolder(options: { folder?: string } = {}): Promise<ForgePlace & TempFolder> {
  const folder = await tempFolder(options);
  return { ...folder, ...(await openPlace(folder)) };
}

/** Around a repository or folder that was made elsewhere; removed with it. */
export async function openPlace({ path }: { readonly path: string }): Promise<ForgePlace> {
  const home = join(dirname(path), 'home of nobody');
  const bin = join(dirname(path), 'bin');
  await Promise.all([mkdir(home), mkdir(bin)]);
  await Promise.all(
    ['forge', 'forge-ctl'].map((name) => symlink(join(dirname(FORGE), `${name}.cjs`), join(bin, name))),
  );
  const env = isolatedEnv(home, bin);
  const exec: ForgePlace['exec'] = (command, args, options = {}) =>
    runProgram(command, args, {
      cwd: options.cwd ?? path,
      env: { ...env, ...options.env },
      stdin: options.stdin,
    });
  return {
    ...createForgeCli(runForge, { cwd: path, env }),
    home,
    bin,
    env,
    exec,
    bash: (script, options) => exec('bash', ['-c', script], options),
  };
}

/** One command, in the environment it is given and no other. */
export type RunProgram = (
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly stdin?: string | undefined },
) => Promise<ProgramResult>;

const runForge: RunProgram = async (args, options) => {
  for (let tries = 0; ; tries += 1) {
    const result = await runProgram(process.execPath, [FORGE, ...args], options);
    // Somebody builds it right now; nothing has happened yet.
    const unbuilt = /(Cannot find module|ENOENT|SyntaxError)[^]*\/dist\//.test(result.stderr);
    if (!unbuilt || tries >= 40) return result;
    await sleep(250);
  }
};

/** `forge` wherever the options say. */
export function createForgeCli(
  runForgeBy: RunProgram,
  options: RunOptions & { cwd: string; env: NodeJS.ProcessEnv },
): ForgeCli {
  const run = (...args: string[]): Promise<ProgramResult> => runForgeBy(args, options);
  const json = async <T>(...args: string[]): Promise<T> => {
    const { stdout, stderr, exit } = await run(...args, '--json');
    // What failed is said on the standard output, as JSON.
    const said = exit === 0 ? '' : stdout;
    expect({ args, exit, stderr, said }).toEqual({ args, exit: 0, stderr: '', said: '' });
    return checkDocument(args, stdout) as T; // the schema was just checked
  };
  return {
    run,
    json,
    async text(...args) {
      const { stdout, stderr, exit } = await run(...args);
      expect({ args, exit, stderr }).toEqual({ args, exit: 0, stderr: '' });
      expect(stdout).toMatch(/\n$/);
      return stdout.slice(0, -1);
    },
    async fails(...args) {
      const [plain, asJson] = await Promise.all([run(...args), run(...withJson(args))]);
      return checkFailure(args, plain, asJson);
    },
    create: (title, ...flags) => json<Task>('task', 'create', title, ...flags),
    show: (id) => json<TaskView>('task', 'show', id),
    with: (more) => createForgeCli(runForgeBy, { ...options, ...more, env: { ...options.env, ...more.env } }),
  };
}

function checkDocument(args: readonly string[], stdout: string): unknown {
  const document: unknown = JSON.parse(stdout);
  expect(stdout, 'one line for programs').toBe(`${JSON.stringify(document)}\n`);
  if (!args.includes('--fields')) expectKeepsSchema(findDeclaration(args), document);
  return document;
}

/** No key is missing, none is more than the declaration says, and none has another type. */
export function expectKeepsSchema(declaration: Declaration, document: unknown): void {
  expect(declaration.output.parse(document)).toEqual(document);
}

/** The operation that a command line calls. */
export function findDeclaration(args: readonly string[]): Declaration {
  for (const at of args.keys()) {
    const found = OPERATIONS.filter(({ cli }) =>
      [cli.path, ...(cli.alias === undefined ? [] : [cli.alias])].some((path) =>
        path.every((word, index) => args[at + index] === word),
      ),
    );
    // `forge mcp install` begins like `forge mcp`.
    const [longest] = found.toSorted((a, b) => b.cli.path.length - a.cli.path.length);
    if (longest !== undefined) return longest;
  }
  throw new Error(`no operation is called by ${args.join(' ')}`);
}

function withJson(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return end === -1 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
}

function checkFailure(args: readonly string[], plain: ProgramResult, asJson: ProgramResult): Failure {
  expect({ args, exit: plain.exit, stdout: plain.stdout }).toEqual({ args, exit: asJson.exit, stdout: '' });
  const { error } = JSON.parse(asJson.stdout) as { error: ErrorBody };
  expect(asJson).toEqual({
    stdout: `${JSON.stringify({ error })}\n`,
    stderr: '',
    exit: ERROR_CODES[error.code].exit,
  });
  const hint = error.hint === undefined ? '' : `  try: ${escapeLine(error.hint)}\n`;
  expect(plain.stderr).toBe(`forge: ${escapeLine(error.message)}\n${hint}`);
  return { exit: plain.exit, stderr: plain.stderr, error };
}

function isolatedEnv(home: string, bin: string): NodeJS.ProcessEnv {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = testGitEnv();
  const { PATH, TMPDIR } = process.env;
  return {
    // The Node that runs the tests comes first: the program's first line asks the PATH for one.
    PATH: [bin, dirname(process.execPath), PATH].join(delimiter),
    ...(TMPDIR !== undefined && { TMPDIR }),
    HOME: home,
    FORGE_HOME: join(home, '.forge'),
    GIT_CONFIG_GLOBAL,
    GIT_CONFIG_SYSTEM,
    LANG: 'C.UTF-8',
    // Lists as a terminal shows them, and wide enough to be shown in full.
    COLUMNS: '99999',
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
}

function runProgram(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; stdin?: string | undefined },
): Promise<ProgramResult> {
  return new Promise((done, fail) => {
    const { cwd, env, stdin } = options;
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const output: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
    child.stdout?.on('data', (chunk: Buffer) => output.stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => output.stderr.push(chunk));
    // A program that does not want its input may end before it has all of it.
    child.stdin?.on('error', () => undefined).end(stdin);
    child.once('error', fail);
    child.once('close', (code, signal) => {
      done({
        stdout: Buffer.concat(output.stdout).toString('utf8'),
        stderr: Buffer.concat(output.stderr).toString('utf8'),
        exit: code ?? 128 + constants.signals[signal ?? 'SIGKILL'],
      });
    });
  });
}
