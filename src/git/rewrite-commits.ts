import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { askGitBytes, getFromGit } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';
import { readTreeEntries, writeTree } from './private-index.ts';
import { toGitFailure } from './run-git.ts';
import { addTrailers, hasTrailers, type Trailers } from './trailers.ts';

/**
 * The same history with the trailers on every commit that an agent made: those that lead from `base` to `head` and
 * that nobody else has. Tree, author, committer and dates stay, merges stay merges; a signature goes, because it is
 * one of other bytes. Gives the new head, or the same where nothing was missing, and what it stands for. No ref moves.
 */
export async function addTrailersToCommits(
  control: ControlGit,
  range: {
    readonly base: string;
    readonly head: string;
    readonly trailers: Trailers;
    /** `forge/35a4-work`: what stands on it is the agent's, whoever has put it there. */
    readonly branch: string;
    /** Commits of others, which keep their ids with all before them. */
    readonly foreign: readonly string[];
    /** Paths that no commit may hold; dropped from those that do. */
    readonly without?: readonly string[];
  },
): Promise<{ readonly head: string; readonly replaced: readonly string[] }> {
  const own = await listOwnCommits(control, range);
  const bodies = await readCommits(control, own);
  const renamed = new Map<string, string>();
  const changed: Buffer[] = [];
  for (const oid of own) {
    const body = bodies.get(oid);
    // cat-file has answered for each.
    if (body === undefined) throw new ForgeError('internal', `git did not show commit ${oid}`);
    const clean = await dropFromCommit(control, body, range.without ?? []);
    const next = toRewritten(clean, { body, renamed, trailers: range.trailers });
    if (next === body) continue;
    const bytes = Buffer.from(next, 'latin1');
    changed.push(bytes);
    renamed.set(oid, toCommitId(control, bytes));
  }
  await storeCommits(control, changed);
  return { head: renamed.get(range.head) ?? range.head, replaced: [...renamed.keys()] };
}

/**
 * Parents before children. What stands on any other branch, be it the user's or another attempt's, or came from a
 * server, is not the agent's.
 */
async function listOwnCommits(
  control: ControlGit,
  range: { base: string; head: string; branch: string; foreign: readonly string[] },
): Promise<readonly string[]> {
  const { base, head, branch, foreign } = range;
  // For --branches the names begin below refs/heads/; with that in front none would be excluded.
  const others = [`--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const args = ['rev-list', '--topo-order', '--reverse', '--ignore-missing', head];
  const text = await getFromGit(control.repository, [...args, '--not', base, ...foreign, ...others]);
  return text === '' ? [] : text.split('\n');
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

function toRewritten(
  clean: string,
  { body, renamed, trailers }: { body: string; renamed: ReadonlyMap<string, string>; trailers: Trailers },
): string {
  const split = clean.indexOf('\n\n');
  const [head, message] = [clean.slice(0, split), clean.slice(split + 2)];
  const parents = head.replaceAll(/^parent ([0-9a-f]+)$/gm, (line, oid: string) => {
    const next = renamed.get(oid);
    return next === undefined ? line : `parent ${next}`;
  });
  const isComplete = hasTrailers(message, trailers);
  if (clean === body && parents === head && isComplete) return body;
  const unsigned = parents.replaceAll(/^gpgsig(?:-sha256)? .*(?:\n .*)*\n?/gm, '').replace(/\n$/, '');
  const bytes = isComplete ? message : addTrailers(message, toLatin1(trailers));
  return `${unsigned}\n\n${bytes}`;
}

/** The commit's text with a tree that lacks the paths. */
async function dropFromCommit(control: ControlGit, body: string, paths: readonly string[]): Promise<string> {
  const tree = /^tree ([0-9a-f]+)/.exec(body)?.[1];
  if (paths.length === 0 || tree === undefined) return body;
  const held = await readTreeEntries(control, tree, paths);
  if (held.size === 0) return body;
  const removed = new Map([...held.keys()].map((path) => [path, null]));
  return body.replace(tree, await writeTree(control, tree, removed));
}

function toLatin1(trailers: Trailers): Trailers {
  const entries = Object.entries(trailers);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value).toString('latin1')]));
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
