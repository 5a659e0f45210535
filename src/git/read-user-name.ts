import { readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import type { Repository } from './find-repository.ts';
import { gitEnvironment } from './git-environment.ts';
import { findLastEntry, type GitConfigEntry, isTrue, parseGitConfig } from './parse-git-config.ts';
import { runGitSync } from './run-git.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * git's `user.name` as `git config --get user.name` gives it, undefined where it is not set or blank. Read from
 * the files, strongest first, so that a write does not wait for a child process; what only git can tell
 * (includes, settings in the environment, a file that git would refuse) is asked of git.
 */
export function findUserName(
  repository: Repository | undefined,
  env: Environment,
  homeDir: string,
): string | undefined {
  if (env['GIT_CONFIG_COUNT'] || env['GIT_CONFIG_PARAMETERS']) return askGit(repository, env, homeDir);
  for (const entries of readConfigs(repository, env, homeDir)) {
    if (entries === 'ask git') return askGit(repository, env, homeDir);
    const entry = findLastEntry(entries, 'user.name');
    if (entry !== undefined) return toName(entry.value);
  }
  return undefined;
}

type Config = readonly GitConfigEntry[] | 'ask git';

/** Strongest first; a generator, so that a file is read only when no stronger one had the answer. */
function* readConfigs(
  repository: Repository | undefined,
  env: Environment,
  homeDir: string,
): Generator<Config> {
  if (repository !== undefined) {
    const local = readConfig(join(repository.common_dir, 'config'));
    if (local !== 'ask git' && isTrue(findLastEntry(local, 'extensions.worktreeconfig'))) {
      yield readConfig(join(repository.git_dir, 'config.worktree'));
    }
    yield local;
  }
  if (env['GIT_CONFIG_GLOBAL'] === undefined) {
    yield readConfig(join(homeDir, '.gitconfig'));
    yield readConfig(join(env['XDG_CONFIG_HOME'] || join(homeDir, '.config'), 'git', 'config'));
  } else yield readConfig(env['GIT_CONFIG_GLOBAL']);
  if (isTrue({ key: '', value: env['GIT_CONFIG_NOSYSTEM'] ?? 'false' })) return;
  yield readConfig(env['GIT_CONFIG_SYSTEM'] ?? '/etc/gitconfig');
}

function readConfig(path: string): Config {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what fs throws
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : 'ask git';
  }
  const entries = parseGitConfig(text);
  if (entries === undefined || entries.some((entry) => INCLUDE.test(entry.key))) return 'ask git';
  return entries;
}

const INCLUDE = /^include(?:if)?\./;

function toName(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}

function askGit(repository: Repository | undefined, env: Environment, homeDir: string): string | undefined {
  const result = runGitSync(['config', '--get', 'user.name'], {
    // Without a repository the root of the disk: anywhere else git might find one.
    cwd: repository?.worktree ?? parse(homeDir).root,
    // The repository was found already: what would lead git to another one, or to one file only, is not in it.
    env: { ...gitEnvironment(env), HOME: homeDir },
  });
  if (result.exit === 0) return toName(result.stdout.replace(/\r?\n$/, ''));
  if (result.exit === 1) return undefined;
  throw new ForgeError('invalid_input', `git could not read user.name: ${result.stderr.trim()}`, {
    hint: 'Correct the configuration that git names, or run: git config user.name "Your Name"',
    details: { exit: result.exit },
  });
}
