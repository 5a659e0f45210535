import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface TempRepo extends TempFolder {
  /** Runs git in the repository and gives its stdout without the last newline; throws with stderr on failure. */
  git(...args: string[]): string;
}

/**
 * A git repository of its own on branch main, without commits, with user "Test User". Whoever runs the tests
 * has no say in it: their git configuration and GIT_* variables are left out.
 *
 *     await using repo = await tempRepo();
 */
export async function tempRepo(options: { folder?: string } = {}): Promise<TempRepo> {
  template ??= makeTemplate();
  const folder = await tempFolder(options);
  cpSync(await template, folder.path, { recursive: true });
  return toTempRepo(folder);
}

/** What `git init` makes is the same each time, and a copy of it takes an eighth of the processor time. */
let template: Promise<string> | undefined;

async function makeTemplate(): Promise<string> {
  const { path } = await tempFolder();
  process.once('exit', () => rmSync(dirname(path), { recursive: true, force: true }));
  runTestGit(path, ['init', '--quiet', '-b', 'main']);
  // Upkeep after each commit would find nothing to do, and is one more process.
  const settings = '[user]\n\tname = Test User\n\temail = test@example.com\n[maintenance]\n\tauto = false\n';
  await appendFile(join(path, '.git', 'config'), settings);
  return path;
}

/** A folder into which somebody puts the repository. */
export function toTempRepo(folder: TempFolder): TempRepo {
  return { ...folder, git: (...args) => runTestGit(folder.path, args) };
}

export interface TempFolder extends AsyncDisposable {
  /** Real path of the folder, without symbolic links: the way git prints it. */
  readonly path: string;
  /** Makes the folders on the way. */
  write(file: string, text: string): Promise<void>;
  read(file: string): Promise<string>;
}

/** A new empty folder; `folder` is its name, for paths with spaces and such. */
export async function tempFolder({ folder = 'project' } = {}): Promise<TempFolder> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'forge-test-')));
  const path = join(parent, folder);
  await mkdir(path);
  return {
    path,
    write: async (file, text) => {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text);
    },
    read: (file) => readFile(join(path, file), 'utf8'),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** For repositories that are not `tempRepo`s: linked worktrees, submodules, bare ones. */
export function runTestGit(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
): string {
  const options = { cwd, env: { ...testGitEnv(), ...env }, encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync('git', args, { ...options, ...(input !== undefined && { input }) }).replace(
    /\r?\n$/,
    '',
  );
}

/** This process's environment without anything that could reach the user's git, or a git that runs the tests. */
export function testGitEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(kept), GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_SYSTEM: devNull };
}
