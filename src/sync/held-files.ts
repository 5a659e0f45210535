import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { listFileCommits } from '#git/file-commits.ts';
import { type BlobReader, openBlobReader } from '#git/read-blob.ts';
import { readRef } from '#git/read-ref.ts';
import { listTargets, type Targets } from './attempt-targets.ts';
import { type AttemptLister, listKnown, readOperationHeads, RESCUES } from './held-lines.ts';

/** Where nothing is known of attempts: what is in no target is not merged. */
export const NO_ATTEMPTS: AttemptLister = { listAttempts: async () => [] };

/**
 * Of files of the working tree, given with their text, those that an attempt wrote which nobody has merged: the way to
 * HEAD has a commit of it that changed the file, or the text is one that such a commit wrote (`git checkout forge/… --
 * .forge`). What a target has is never held.
 */
export async function findHeldFiles(
  store: AttemptLister,
  repo: GitRepo,
  files: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const head = await readRef(repo, 'HEAD');
  if (head === undefined) return new Set();
  const facts = await readFacts(store, repo);
  const tips = [head, ...readOperationHeads(repo)];
  await using reader = openBlobReader(repo);
  const held = new Set<string>();
  for (const [path, text] of files) {
    if (await isOnTarget(reader, facts, path, text)) continue;
    const own = await listOwn(repo, facts, path);
    const way = await listCommits(repo, facts, { tips, globs: [], path });
    const isOwn = way.some(({ commit, attempts }) => isUnmerged(facts, attempts) || own.has(commit));
    if (isOwn || (await isWritten(reader, own, path, text))) held.add(path);
  }
  return held;
}

/** The same of a revision: files that a commit of such an attempt changed on the way to it. */
export async function findHeldFilesAt(
  store: AttemptLister,
  repo: GitRepo,
  rev: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const facts = await readFacts(store, repo);
  const held = new Set<string>();
  for (const path of paths) {
    const own = await listOwn(repo, facts, path);
    const way = await listCommits(repo, facts, { tips: [rev], globs: [], path });
    if (way.some(({ commit, attempts }) => isUnmerged(facts, attempts) || own.has(commit))) held.add(path);
  }
  return held;
}

/** The file as the first target has it. */
export async function readAtTarget(
  store: AttemptLister,
  repo: GitRepo,
  path: string,
): Promise<Buffer | undefined> {
  const { tips } = await readFacts(store, repo);
  await using reader = openBlobReader(repo);
  for (const tip of tips) {
    const bytes = await reader.read(tip, path);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

interface Facts {
  readonly targets: Targets;
  /** Of the targets, here and at the remotes. */
  readonly tips: readonly string[];
  readonly merged: ReadonlySet<string>;
  /** Where the attempts of this clone began. */
  readonly bases: readonly string[];
}

async function readFacts(store: AttemptLister, repo: GitRepo): Promise<Facts> {
  const attempts = await store.listAttempts({});
  const targets = await listTargets(repo, attempts);
  const args = ['for-each-ref', '--format=%(objectname)', ...targets.globs];
  const { stdout } = targets.globs.length === 0 ? { stdout: '' } : await askGit(repo, args);
  return {
    targets,
    tips: [...new Set([...targets.commits, ...stdout.split('\n').filter((line) => line !== '')])],
    merged: new Set(attempts.flatMap(({ id, state }) => (state === 'merged' ? [id] : []))),
    bases: await listKnown(
      repo,
      attempts.map(({ base_commit }) => base_commit),
    ),
  };
}

function isUnmerged({ merged }: Facts, attempts: readonly string[]): boolean {
  return attempts.some((id) => !merged.has(id));
}

/** Commits on branches of attempts: here also those that have no trailer yet, because the agent is still at work. */
async function listOwn(repo: GitRepo, facts: Facts, path: string): Promise<ReadonlySet<string>> {
  const here = [`refs/heads/${BRANCH_FOLDER}*`, `${RESCUES}*`];
  const there = [`refs/remotes/*/${BRANCH_FOLDER}*`];
  const local = await listCommits(repo, facts, { tips: [], globs: here, path, without: facts.bases });
  const remote = await listCommits(repo, facts, { tips: [], globs: there, path });
  return new Set([
    ...local
      .filter(({ attempts }) => attempts.length === 0 || isUnmerged(facts, attempts))
      .map(({ commit }) => commit),
    ...remote.filter(({ attempts }) => isUnmerged(facts, attempts)).map(({ commit }) => commit),
  ]);
}

function listCommits(
  repo: GitRepo,
  { targets }: Facts,
  {
    tips,
    globs,
    path,
    without = [],
  }: {
    readonly tips: readonly string[];
    readonly globs: readonly string[];
    readonly path: string;
    readonly without?: readonly string[];
  },
): ReturnType<typeof listFileCommits> {
  return listFileCommits(repo, {
    tips,
    globs,
    without: [...targets.commits, ...without],
    without_globs: targets.globs,
    paths: [path],
  });
}

async function isOnTarget(reader: BlobReader, { tips }: Facts, path: string, text: string): Promise<boolean> {
  return isWritten(reader, tips, path, text);
}

async function isWritten(
  reader: BlobReader,
  commits: Iterable<string>,
  path: string,
  text: string,
): Promise<boolean> {
  for (const commit of commits) if ((await reader.read(commit, path))?.toString('utf8') === text) return true;
  return false;
}
