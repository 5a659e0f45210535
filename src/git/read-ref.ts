import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type GitRepo } from './ask-git.ts';
import { readPlainFile } from './read-plain-file.ts';

/**
 * The object that a ref (`HEAD`, `refs/heads/main`) points to, by file reads alone: the loose file, then
 * `packed-refs`. Undefined where there is none. A repository with reftables is asked through git.
 */
export async function readRef(repo: GitRepo, ref: string): Promise<string | undefined> {
  if (!isSafe(ref)) return undefined;
  if (hasReftables(repo)) return askForRef(repo, ref);
  let name = ref;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const text = readLoose(repo, name) ?? findPacked(repo, name);
    if (text === undefined) return undefined;
    const target = toTarget(text);
    if (target === undefined) return /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
    if (!isSafe(target)) return undefined;
    name = target;
  }
  return undefined;
}

/** The ref that a symbolic ref (`HEAD`) names, which need not exist; undefined where it is none. */
export async function readSymbolicRef(repo: GitRepo, ref: string): Promise<string | undefined> {
  if (!isSafe(ref)) return undefined;
  if (hasReftables(repo)) {
    const result = await askGit(repo, ['symbolic-ref', '--quiet', ref]);
    return result.exit === 0 ? result.stdout.trim() : undefined;
  }
  const text = readLoose(repo, ref);
  return text === undefined ? undefined : toTarget(text);
}

/** The ref at the end of a chain of symbolic refs: the ref itself where it is none. Undefined for a circle. */
export async function resolveRef(repo: GitRepo, ref: string): Promise<string | undefined> {
  let name = ref;
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const target = await readSymbolicRef(repo, name);
    if (target === undefined) return name;
    name = target;
  }
  return undefined;
}

/** As git itself: a longer chain is taken for a circle. */
const MAX_HOPS = 5;

function hasReftables(repo: GitRepo): boolean {
  return existsSync(join(repo.common_dir, 'reftable'));
}

async function askForRef(repo: GitRepo, ref: string): Promise<string | undefined> {
  const result = await askGit(repo, ['rev-parse', '--verify', '--quiet', '--end-of-options', ref]);
  return result.exit === 0 ? result.stdout.trim() : undefined;
}

function readLoose(repo: GitRepo, ref: string): string | undefined {
  const path = join(isOfWorktree(ref) ? repo.git_dir : repo.common_dir, ref);
  try {
    // In old repositories HEAD is a symbolic link to the branch's file, which may not be there yet.
    if (lstatSync(path).isSymbolicLink()) {
      const target = readlinkSync(path);
      if (target.startsWith('refs/')) return `ref: ${target}`;
    }
  } catch {
    return undefined;
  }
  return readPlainFile(path)?.toString('utf8').trimEnd();
}

/** What each working tree has for itself; everything else is shared. */
function isOfWorktree(ref: string): boolean {
  return !ref.startsWith('refs/') || /^refs\/(?:bisect|worktree|rewritten)\//.test(ref);
}

function findPacked(repo: GitRepo, ref: string): string | undefined {
  const text = readPlainFile(join(repo.common_dir, 'packed-refs'))?.toString('utf8') ?? '';
  const end = text.indexOf(` ${ref}\n`) + 1;
  if (end === 0) return undefined;
  const start = text.lastIndexOf('\n', end - 1) + 1;
  return text.slice(start, end - 1);
}

function toTarget(text: string): string | undefined {
  return /^ref:\s*(\S.*)$/.exec(text)?.[1]?.trim();
}

/** Names come from configuration and files too: none may lead out of the git directory. */
function isSafe(ref: string): boolean {
  return /^(?:HEAD|[A-Z_]+_HEAD|refs\/.+)$/.test(ref) && !/\.\.|[\0-\x1f\\ ]|\/\/|\.lock$/.test(ref);
}
