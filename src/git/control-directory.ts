import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { askGit, type AskOptions, type GitRepo } from './ask-git.ts';
import { readAllowedConfig, toConfigText, toFormatEntries } from './control-config.ts';
import type { GitConfigEntry } from './parse-git-config.ts';
import { readTextIfThere, refreshFile } from './replace-file.ts';
import { type GitResult, toGitFailure, toShownStderr } from './run-git.ts';
import { isOn, toAttributesFile, toFilterEntries, type UserFilter } from './user-filters.ts';

/**
 * git as Forge uses it on attempts: a git directory of its own beside the user's, whose configuration Forge alone
 * writes, with the user's objects. Everything that takes a repository takes it too.
 */
export interface ControlGit extends GitRepo {
  /** The user's, for refs: what keeps an attempt's commits from being pruned must stand where the user's git looks. */
  readonly repository: GitRepo;
  readonly objects: string;
  readonly object_format: 'sha1' | 'sha256';
  /** What an attempt's own configuration gets of the user's. */
  readonly inherited: readonly GitConfigEntry[];
  /** The user's own, which are run as the user has them. */
  readonly filters: readonly UserFilter[];
  /** `commit.gpgSign` of the user's. */
  readonly signs: boolean;
  /** `info/attributes` of the user's repository, for every attempt. */
  readonly attributes: string;
  /** `init.defaultBranch`. */
  readonly initial_branch: string | undefined;
  /** Its `info/exclude`, and that of every attempt. */
  readonly excludes: string;
  readonly copied: readonly string[];
  /** How long one git may take that reads or writes a whole working tree. */
  readonly checkout_timeout_ms: number;
}

export interface ControlOptions {
  /** Patterns of files that are copied into attempts (`.env`), which no commit of ours may hold. */
  readonly copied?: readonly string[];
  /** What Forge itself sets there: a program to sign with, a merge driver of its own. */
  readonly settings?: readonly GitConfigEntry[];
  /** How git may reach others. */
  readonly protocols?: readonly string[];
  /** The project's folder, for commands that are started inside. */
  readonly project?: string;
  readonly timeout_ms?: number;
  readonly checkout_timeout_ms?: number;
}

const PROTOCOLS: readonly string[] = ['https', 'ssh'];

/**
 * Makes `<common>/forge/control.git`, or brings it up to date with the user's configuration. Nothing is locked: each
 * file is replaced whole, and all who come at once write the same. Throws not_a_repository where git refuses the
 * repository, permission_denied where it belongs to somebody else.
 */
export async function openControlDirectory(
  repository: GitRepo,
  options: ControlOptions = {},
): Promise<ControlGit> {
  const timeout_ms = options.timeout_ms ?? LIMITS.git_ms;
  const user: GitRepo = { ...repository, timeout_ms };
  const config = await readAllowedConfig(user, { submodules: true });
  if (!config.is_repository) await checkRepository(user);
  const folder = toUserFolder(repository);
  const filters = toFilterEntries(config.filters, folder);
  const inherited = [...config.entries, ...filters, ...toAttributesFile(config.all, folder)];
  const path = join(repository.common_dir, 'forge', 'control.git');
  for (const folder of ['objects/info', 'refs/forge/keep', 'info', 'attempts'])
    mkdirSync(join(path, folder), { recursive: true });
  refreshFile(join(path, 'HEAD'), 'ref: refs/heads/none\n');
  refreshFile(join(path, 'config'), toControlConfig(repository, inherited, options), 0o600);
  const copied = options.copied ?? [];
  const excludes = toExcludes(repository, copied);
  refreshFile(join(path, 'info', 'exclude'), excludes);
  const attributes = readTextIfThere(join(repository.common_dir, 'info', 'attributes')) ?? '';
  refreshFile(join(path, 'info', 'attributes'), attributes);
  linkShallow(repository, path);
  const objects = join(repository.common_dir, 'objects');
  const format = inherited.findLast(({ key }) => key === 'extensions.objectformat')?.value;
  return {
    ...user,
    worktree: path,
    git_dir: path,
    common_dir: path,
    repository: user,
    objects,
    object_format: format === 'sha256' ? 'sha256' : 'sha1',
    inherited,
    filters: config.filters,
    signs: isOn(config.all, 'commit.gpgsign'),
    attributes,
    initial_branch: config.initial_branch,
    excludes,
    copied,
    checkout_timeout_ms: options.checkout_timeout_ms ?? LIMITS.git_checkout_ms,
    git_env: {
      GIT_DIR: path,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALLOW_PROTOCOL: (options.protocols ?? PROTOCOLS).join(':'),
      SSH_ASKPASS_REQUIRE: 'never',
    },
    settings: [
      'safe.bareRepository=explicit',
      'submodule.recurse=false',
      'commit.gpgSign=false',
      ...(config.has_commanded_filters ? filters.map(({ key, value }) => `${key}=${value}`) : []),
    ],
  };
}

/** The user's `info/exclude` and what is copied into attempts: what no git of an attempt shall see as new. */
function toExcludes(repository: GitRepo, copied: readonly string[]): string {
  const own = readTextIfThere(join(repository.common_dir, 'info', 'exclude')) ?? '';
  const text = own === '' || own.endsWith('\n') ? own : `${own}\n`;
  return text + copied.map((pattern) => `${pattern}\n`).join('');
}

export interface ControlQuestion extends AskOptions {
  /** An index of an attempt; without one git gets none to read or write. */
  readonly index?: string;
  readonly work_tree?: string;
}

/** Runs git on an attempt's working tree and index; the exit code is for the caller to read. */
export function askControl(
  control: ControlGit,
  args: readonly string[],
  { index, work_tree, ...options }: ControlQuestion,
): ReturnType<typeof askGit> {
  const at = work_tree === undefined ? [] : ['-C', work_tree];
  return askGit(control, [...at, ...args], toAskOptions(options, index, work_tree));
}

/** The same for a command that cannot fail unless something is broken. */
export async function getFromControl(
  control: ControlGit,
  args: readonly string[],
  options: ControlQuestion,
): Promise<string> {
  const result = await askControl(control, args, options);
  if (result.exit !== 0) throw toControlFailure(control, args, result);
  return result.stdout.replace(/\n$/, '');
}

/** git does not say which filter it was when one that stays as a process ends in the middle. */
export function toControlFailure(
  control: ControlGit,
  args: readonly string[],
  result: GitResult,
): ForgeError {
  const names = control.filters.flatMap(({ name, process: command }) =>
    command === undefined ? [] : [name],
  );
  if (names.length === 0 || !/remote end hung up|unexpected line|protocol error/.test(result.stderr))
    return toGitFailure(args, result);
  const shown = names.map((name) => `filter=${escapeLine(name)}`).join(' or ');
  return new ForgeError('io_failed', `The process of ${shown} ended before it had answered`, {
    hint: `git config --get filter.${escapeLine(names[0] ?? '')}.process shows the command; it has to work in your own checkout`,
    details: { filter: names[0] },
  });
}

export function toAskOptions(options: AskOptions, index?: string, workTree?: string): AskOptions {
  const more_env = {
    ...options.more_env,
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
  };
  return { ...options, more_env };
}

/** An explicit git directory is never asked who owns it, so git is asked about the repository first. */
async function checkRepository(repo: GitRepo): Promise<void> {
  const args = ['rev-parse', '--git-dir'];
  const result = await askGit(repo, args);
  if (result.exit === 0) return;
  if (/dubious ownership|unsafe repository/.test(result.stderr)) {
    throw new ForgeError('permission_denied', `${repo.worktree} belongs to another user, so git refuses it`, {
      hint: `If you trust it: git config --global --add safe.directory ${repo.worktree}`,
      details: { path: repo.worktree },
    });
  }
  throw new ForgeError('not_a_repository', `git refuses ${repo.worktree}: ${toShownStderr(result.stderr)}`, {
    hint: 'git status shows the same',
    details: { path: repo.worktree },
  });
}

function toControlConfig(
  repository: GitRepo,
  inherited: readonly GitConfigEntry[],
  { settings = [], project }: ControlOptions,
): string {
  const entries = inherited.filter(({ key }) => !key.startsWith('submodule.'));
  return toConfigText([
    ...toFormatEntries(entries, true),
    ...toLfsStorage(repository, entries),
    ...entries,
    { key: 'forge.project', value: project ?? toMainFolder(repository.common_dir) },
    ...settings,
  ]);
}

/** LFS files that the user has already need not be fetched again. */
export function toLfsStorage(
  repository: GitRepo,
  entries: readonly GitConfigEntry[],
): readonly GitConfigEntry[] {
  if (entries.some(({ key }) => key === 'lfs.storage')) return [];
  return [{ key: 'lfs.storage', value: join(repository.common_dir, 'lfs') }];
}

/** Where the user's own git would run: the main checkout, so that all who share the control directory agree. */
function toUserFolder({ common_dir, worktree }: GitRepo): string {
  return basename(common_dir) === '.git' ? dirname(common_dir) : worktree;
}

function toMainFolder(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

/** A link, so that what the user fetches later is seen; a copy where there are no links. */
function linkShallow(repository: GitRepo, path: string): void {
  const [target, link] = [join(repository.common_dir, 'shallow'), join(path, 'shallow')];
  if (isLinkTo(link, target)) return;
  const temporary = `${link}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  try {
    symlinkSync(target, temporary);
    renameSync(temporary, link);
  } catch {
    rmSync(temporary, { force: true });
    if (existsSync(target)) copyFileSync(target, link);
  }
}

function isLinkTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target;
  } catch {
    return false;
  }
}
