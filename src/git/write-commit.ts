import { ForgeError } from '#kernel/errors.ts';
import { askGit, askGitApart, getFromGit, type GitRepo } from './ask-git.ts';
import { readRef } from './read-ref.ts';
import { toGitFailure, toShownStderr } from './run-git.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
  /** As git takes it: `1700000000 +0000`. Now, where it is left out. */
  readonly date?: string;
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author?: Author;
  readonly committer?: Author;
}

/**
 * Stores a commit; no ref moves and no hook runs. Author and committer are those of git's configuration unless
 * others are given; the committer is the author where only that is.
 */
export async function writeCommit(
  repo: GitRepo,
  commit: NewCommit & {
    readonly sign: boolean;
    /** In a session of its own, and for so long at most: nobody is there to type a passphrase. */
    readonly apart_ms?: number;
  },
): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ['-p', parent]);
  const plain = ['commit-tree', commit.tree, ...parents, '-F', '-'];
  const args = commit.sign ? [...plain, '-S'] : plain;
  const options = {
    input: `${commit.message.trimEnd()}\n`,
    more_env: {
      ...toPersonEnv('AUTHOR', commit.author),
      ...toPersonEnv('COMMITTER', commit.committer ?? commit.author),
    },
  };
  const { apart_ms } = commit;
  const result =
    apart_ms === undefined
      ? await askGit(repo, args, options)
      : await askGitApart(repo, args, { ...options, timeout_ms: apart_ms });
  if (result.exit === 0) return result.stdout.trim();
  if (NO_IDENTITY.test(result.stderr)) throw noIdentity();
  if (!commit.sign) throw toGitFailure(args, result);
  if ('timed_out' in result && result.timed_out)
    throw notSigned(`nothing came within ${(apart_ms ?? 0) / 1_000} s; it may wait for a passphrase`);
  // Programs and keys fail in words of their own. What works without a signature failed for the signature's sake.
  const without = await askGit(repo, plain, options);
  throw without.exit === 0 ? notSigned(result.stderr) : toGitFailure(plain, without);
}

function toPersonEnv(role: 'AUTHOR' | 'COMMITTER', person: Author | undefined): Record<string, string> {
  if (person === undefined) return {};
  return {
    [`GIT_${role}_NAME`]: person.name,
    [`GIT_${role}_EMAIL`]: person.email,
    // With the sign, a small number is seconds as well, and not a date in short.
    ...(person.date !== undefined && {
      [`GIT_${role}_DATE`]: person.date.replace(/^(?=\d+ [+-]\d{4}$)/, '@'),
    }),
  };
}

/**
 * Moves a ref from the commit that it was seen at (undefined: it was not there). `lost` when somebody else moved it
 * meanwhile: nothing was changed then.
 */
export async function moveRef(
  repo: GitRepo,
  move: {
    readonly ref: string;
    readonly to: string;
    readonly from: string | undefined;
    readonly reason: string;
  },
): Promise<'moved' | 'lost'> {
  const { ref, to, from = '0'.repeat(to.length) } = move;
  const args = ['update-ref', '-m', toReflogLine(move.reason), ref, to, from];
  const result = await askGit(repo, args);
  if (result.exit === 0) return 'moved';
  if (MOVED.test(result.stderr) || (await readRef(repo, ref)) !== move.from) return 'lost';
  if (!/Unable to create/.test(result.stderr)) throw toGitFailure(args, result);
  throw new ForgeError('store_busy', `Another git is changing ${ref}, or left its lock behind`, {
    hint: 'Wait for it, or remove the lock file that git names',
    details: { ref, git: toShownStderr(result.stderr) },
  });
}

const MOVED = /but expected|reference already exists|unable to resolve reference/;
const NO_IDENTITY = /identity unknown|empty ident name|unable to auto-detect|no (?:email|name) was given/i;

/** `git commit-tree` does not look at `commit.gpgSign` by itself. */
export async function isSigningOn(repo: GitRepo): Promise<boolean> {
  const args = ['config', '--type=bool', '--get', 'commit.gpgSign'];
  const result = await askGit(repo, args);
  if (result.exit > 1) throw toGitFailure(args, result);
  return result.stdout.trim() === 'true';
}

function noIdentity(): ForgeError {
  return new ForgeError('state_invalid', 'git does not know who you are, so it makes no commit', {
    hint: 'git config user.name "Your Name" && git config user.email you@example.com',
  });
}

function notSigned(stderr: string): ForgeError {
  return new ForgeError('io_failed', `git could not sign the commit: ${toShownStderr(stderr)}`, {
    hint: 'Check user.signingKey and gpg.program, or run: git config commit.gpgSign false',
    details: { unsigned: true },
  });
}

function toReflogLine(reason: string): string {
  return reason.split('\n', 1)[0]?.trim() ?? '';
}

/** The empty tree; stored, because not every command of git knows it by heart in every format. */
export function writeEmptyTree(repo: GitRepo): Promise<string> {
  return getFromGit(repo, ['mktree']);
}
