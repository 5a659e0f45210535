import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { askGitBytes, getFromGit } from './ask-git.ts';
import {
  cleanCommit,
  type CommitText,
  dropSignature,
  formatCommit,
  isCleanCommit,
  nameAttempt,
  parseCommit,
} from './commit-text.ts';
import type { ControlGit } from './control-directory.ts';
import { readTreeEntries, writeTree } from './private-index.ts';
import { toGitFailure } from './run-git.ts';
import type { Trailers } from './trailers.ts';

/**
 * The same history with the trailers on every commit that an agent made: those that lead from `base` to `head` and
 * that nobody else has. Of Forge's trailers only these stay, and nothing that a terminal would obey; a signature goes,
 * because it is one of other bytes. Tree, author, committer and dates stay, merges stay merges. Gives the new head, or
 * the same where nothing was missing, and what it stands for. No ref moves.
 */
export async function rewriteCommits(
  control: ControlGit,
  range: {
    readonly base: string;
    readonly head: string;
    /** What was harvested before: its commits say what they shall. */
    readonly known: string;
    readonly trailers: Trailers;
    /** `forge/35a4-work`: what stands on it is the agent's, whoever has put it there. */
    readonly branch: string;
    /**
     * Commits of others by the word of the agent's own refs, which keep their ids with all before them. One whose text
     * a terminal would obey is taken for the agent's all the same.
     */
    readonly foreign: readonly string[];
    /** Paths that no commit may hold; dropped from those that do. */
    readonly without?: readonly string[];
  },
): Promise<{ readonly head: string; readonly replaced: readonly string[] }> {
  const listed = await listOwnCommits(control, range);
  const bodies = await readCommits(control, listed);
  const commits = new Map(listed.map((oid) => [oid, getCommit(bodies, oid)]));
  const seen = listReachable(commits, [range.known]);
  const foreign = listReachable(commits, range.foreign);
  const renamed = new Map<string, string>();
  const changed: Buffer[] = [];
  for (const [oid, commit] of commits) {
    const isForeign = foreign.has(oid) && !seen.has(oid) && isCleanCommit(commit);
    const paths = isForeign ? [] : (range.without ?? []);
    const moved: CommitText = {
      ...commit,
      tree: await dropFromTree(control, commit.tree, paths),
      parents: commit.parents.map((parent) => renamed.get(parent) ?? parent),
    };
    const isKept = isForeign || seen.has(oid);
    const next = isKept ? moved : nameAttempt(cleanCommit(moved), range.trailers);
    if (formatCommit(next) === bodies.get(oid)) continue;
    const bytes = Buffer.from(formatCommit(dropSignature(next)), 'latin1');
    changed.push(bytes);
    renamed.set(oid, toCommitId(control, bytes));
  }
  await storeCommits(control, changed);
  return { head: renamed.get(range.head) ?? range.head, replaced: [...renamed.keys()] };
}

/**
 * Parents before children. What stands on any other branch of the user's repository, be it the user's or another
 * attempt's, or came from a server there, is not the agent's.
 */
async function listOwnCommits(
  control: ControlGit,
  range: { base: string; head: string; branch: string },
): Promise<readonly string[]> {
  const { base, head, branch } = range;
  // For --branches the names begin below refs/heads/; with that in front none would be excluded.
  const others = [`--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const args = ['rev-list', '--topo-order', '--reverse', head];
  const text = await getFromGit(control.repository, [...args, '--not', base, ...others]);
  return text === '' ? [] : text.split('\n');
}

function getCommit(bodies: ReadonlyMap<string, string>, oid: string): CommitText {
  const commit = parseCommit(bodies.get(oid) ?? '');
  if (commit !== undefined) return commit;
  // rev-list has read each.
  throw new ForgeError('internal', `git did not show commit ${oid}`);
}

/** Those of the commits that the tips lead to. */
function listReachable(
  commits: ReadonlyMap<string, CommitText>,
  tips: readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...tips];
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    const commit = found.has(oid) ? undefined : commits.get(oid);
    if (commit === undefined) continue;
    found.add(oid);
    waiting.push(...commit.parents);
  }
  return found;
}

/** As `latin1`, one character a byte: messages may be in any encoding. */
async function readCommits(
  control: ControlGit,
  oids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (oids.length === 0) return new Map();
  const args = ['cat-file', '--batch'];
  const { stdout, stderr, exit } = await askGitBytes(control, args, { input: `${oids.join('\n')}\n` });
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const text = stdout.toString('latin1');
  const bodies = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const [oid = '', , size = '0'] = text.slice(at, end).split(' ');
    bodies.set(oid, text.slice(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return bodies;
}

/** The tree without the paths. */
async function dropFromTree(control: ControlGit, tree: string, paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return tree;
  const held = await readTreeEntries(control, tree, paths);
  if (held.size === 0) return tree;
  return writeTree(control, tree, new Map([...held.keys()].map((path) => [path, null])));
}

function toCommitId(control: ControlGit, bytes: Buffer): string {
  return createHash(control.object_format).update(`commit ${bytes.length}\0`).update(bytes).digest('hex');
}

/** One git for all: their ids are known beforehand, so children need not wait for their parents. */
async function storeCommits(control: ControlGit, commits: readonly Buffer[]): Promise<void> {
  if (commits.length === 0) return;
  const folder = await mkdtemp(join(tmpdir(), 'forge-commits-'));
  try {
    const paths = commits.map((_, at) => join(folder, String(at)));
    await Promise.all(commits.map((bytes, at) => writeFile(paths[at] ?? '', bytes)));
    const args = ['hash-object', '-t', 'commit', '-w', '--no-filters', '--stdin-paths'];
    const stored = await getFromGit(control, args, { input: `${paths.join('\n')}\n` });
    const expected = commits.map((bytes) => toCommitId(control, bytes)).join('\n');
    if (stored !== expected) throw new ForgeError('internal', 'git stored other commits than it was given');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
