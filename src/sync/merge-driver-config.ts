import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { gitEnvironment } from '#git/git-environment.ts';
import { findLastEntry, parseGitConfig } from '#git/parse-git-config.ts';
import { runGit, toShownStderr } from '#git/run-git.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Environment } from './forge-home.ts';
import { type ForgeProgram, quoteForShell } from './forge-program.ts';
import type { ProjectPaths } from './project-paths.ts';

const NAME = 'Forge task files';
const POLL_MS = 50;
const PATIENCE_MS = 2_000;

/**
 * Where Forge's program is gone, cannot run, or gives up (it leaves %A alone then), people get git's text merge with
 * its markers, which Forge can read as well. `false`, because git merge-file exits with 255 where it can merge nothing,
 * and a newer git takes more than 128 for a driver that crashed and stops the whole merge.
 */
const ARGUMENTS =
  ' merge-driver %O %A %B %P || git merge-file -q --marker-size=%L -L ours -L base -L theirs %A %O %B || false';

/**
 * Whether git would run a Forge that is there. For every command: one small file is read and no process started. The
 * driver of another installation will do as long as that is there, or two installations would rewrite each other's.
 */
export function isMergeDriverRegistered(paths: ProjectPaths, program: ForgeProgram): boolean {
  const driver = findDriver(paths);
  if (driver === toDriver(program)) return true;
  const other = driver === undefined ? undefined : parseDriver(driver);
  return other !== undefined && existsSync(other.node) && existsSync(other.script);
}

/** In this clone's configuration, for all its working trees. Idempotent. Throws store_busy when somebody holds it. */
export async function registerMergeDriver(options: {
  readonly paths: ProjectPaths;
  readonly program: ForgeProgram;
  readonly env: Environment;
}): Promise<void> {
  const { paths, env } = options;
  // The driver last: whoever sees it sees a complete entry.
  await runConfig(['--replace-all', 'merge.forge.name', NAME], paths, env);
  await runConfig(['--replace-all', 'merge.forge.driver', toDriver(options.program)], paths, env);
}

/** Leaves a driver of that name alone that is not ours. Idempotent. */
export async function unregisterMergeDriver(options: {
  readonly paths: ProjectPaths;
  readonly env: Environment;
}): Promise<void> {
  const driver = findDriver(options.paths);
  if (driver === undefined || !OURS.test(driver)) return;
  await runConfig(['--remove-section', 'merge.forge'], options.paths, options.env);
}

/** What git hands to a shell, after it has put file names for the letters behind `%`. */
function toDriver({ node, script }: ForgeProgram): string {
  const words = [node, script].map((path) => quoteForShell(path).replaceAll('%', '%%'));
  return words.join(' ') + ARGUMENTS;
}

const WORD = String.raw`'([^']*(?:'\\''[^']*){0,1000})'`;
const OURS = new RegExp(`^${WORD} ${WORD} merge-driver %O %A %B %P`);

/** Undefined also for one that another version wrote in another form. */
function parseDriver(driver: string): ForgeProgram | undefined {
  const [, node, script] = OURS.exec(driver) ?? [];
  if (node === undefined || script === undefined) return undefined;
  const program = { node: unquote(node), script: unquote(script) };
  return driver === toDriver(program) ? program : undefined;
}

function unquote(word: string): string {
  return word.replaceAll(String.raw`'\''`, "'").replaceAll('%%', '%');
}

function findDriver(paths: ProjectPaths): string | undefined {
  const entries = parseGitConfig(readConfig(paths)) ?? [];
  return findLastEntry(entries, 'merge.forge.driver')?.value;
}

/** What cannot be read has no driver; whoever then registers one hears from git what is wrong. */
function readConfig(paths: ProjectPaths): string {
  return readPlainFile(join(paths.common_dir, 'config'))?.toString('utf8') ?? '';
}

/** Git does not wait for its own lock, and another command of the user's may hold it for a moment. */
async function runConfig(args: readonly string[], paths: ProjectPaths, env: Environment): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    const options = { cwd: paths.root, env: gitEnvironment(env) };
    const { exit, stderr } = await runGit(['config', '--local', ...args], options);
    // Somebody else removed the section first.
    if (exit === 0 || stderr.includes('no such section')) return;
    const held = stderr.includes('could not lock config file ') && stderr.includes(': File exists');
    if (!held || waited >= PATIENCE_MS) throw toConfigError(stderr, held, paths);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function toConfigError(stderr: string, held: boolean, paths: ProjectPaths): ForgeError {
  const file = join(paths.common_dir, 'config');
  if (held) {
    return new ForgeError('store_busy', `${file} is locked by another git command, or by one that died`, {
      hint: `Try again; if no git is at work here, remove ${file}.lock`,
      details: { path: `${file}.lock` },
    });
  }
  const denied = /Permission denied|Read-only file system/.test(stderr);
  return new ForgeError(
    denied ? 'permission_denied' : 'io_failed',
    `git could not change ${file}: ${toShownStderr(stderr)}`,
    {
      details: { path: file },
    },
  );
}
