import { askGit, type GitRepo } from '#git/ask-git.ts';
import { type GraphCommit, listFileGraph } from '#git/file-graph.ts';
import { findRepository } from '#git/find-repository.ts';
import { type BlobReader, openBlobReader } from '#git/read-blob.ts';
import { areLinked, type LoggedMove } from '#domain/linked-moves.ts';
import { hasLife } from '#domain/own-values.ts';
import { toOwnKey, type OwnValue } from '#domain/judge-losses.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';
import { findMoves, findRecords } from './find-lines-of.ts';

/** Versions of the task file that are looked through; what an older one holds counts as not seen, and nothing is lost. */
const VERSIONS = 500;
/** Commits are dated by the clock of another machine. */
const SKEW_MS = 86_400_000;
const SECOND_MS = 1_000;

/** Which of these values of a store the writers of something had seen, as `toOwnKey` names them. */
export type FindSeen = (values: readonly OwnValue[]) => Promise<ReadonlySet<string>>;

/**
 * Which of these values the writers of what stands had seen. A merge that was made on a server has both in its history,
 * although neither writer knew of the other; so the commit is looked for that first had the value that stands, and
 * what falls must be in the history of that commit. Where it is not known, any task file of the revision's history
 * counts. No further back than to the oldest of the values.
 */
export async function findSeenIn(
  values: readonly OwnValue[],
  { repo, rev }: { readonly repo: GitRepo; readonly rev: string },
): Promise<ReadonlySet<string>> {
  // A write is always later than what it replaces.
  const asked = values.filter(({ mark, stands }) => stands.stamp > mark.stamp);
  if (asked.length === 0) return new Set();
  const oldest = Math.min(...asked.map(({ mark }) => mark.stamp)) - SKEW_MS;
  const graph: Graph = new Map();
  let versions = 0;
  let next_look = 1;
  await using blobs = openBlobReader(repo);
  for await (const one of listFileGraph(repo, rev, TASKS_PATH)) {
    if (one.committed * SECOND_MS < oldest || versions === VERSIONS) break;
    graph.set(one.commit, { ...one, ...(await readVersion(blobs, one.oid, asked)) });
    if (one.oid !== undefined) versions += 1;
    if (versions < next_look) continue;
    next_look *= 2;
    if (asked.every((value) => isFoundBelow(graph, value))) break;
  }
  const seen = new Set<string>();
  for (const value of asked) if (await isSeen(graph, value, blobs)) seen.add(toOwnKey(value));
  return seen;
}

/** What one version of the task file has of the values; a merge that left it as its parents have it says nothing. */
interface Version extends GraphCommit {
  readonly falls: ReadonlySet<OwnValue>;
  readonly stands: ReadonlySet<OwnValue>;
  /** What falls, and the line of what stands knows of it. */
  readonly told: ReadonlySet<OwnValue>;
}
type Graph = Map<string, Version>;

async function readVersion(
  blobs: BlobReader,
  oid: string | null | undefined,
  values: readonly OwnValue[],
): Promise<Omit<Version, keyof GraphCommit>> {
  const found = { falls: new Set<OwnValue>(), stands: new Set<OwnValue>(), told: new Set<OwnValue>() };
  const bytes = typeof oid === 'string' ? await blobs.readObject(oid) : undefined;
  if (bytes === undefined) return found;
  for (const value of values) {
    for (const record of findRecords(bytes, value.id)) {
      const falls = hasLife(record, value.mark);
      const stands = hasLife(record, value.stands);
      if (falls) found.falls.add(value);
      if (stands) found.stands.add(value);
      if (falls && stands) found.told.add(value);
    }
  }
  return found;
}

/** The commits that first had what stands: it is in none of their parents. */
function findWriters(graph: Graph, value: OwnValue): Version[] {
  const had = (parents: readonly string[]): boolean => {
    const known = new Set(parents);
    for (const commit of known) {
      const version = graph.get(commit);
      if (version?.stands.has(value) === true) return true;
      if (version?.oid === undefined) for (const parent of version?.parents ?? []) known.add(parent);
    }
    return false;
  };
  const writers = [...graph.values()].filter(
    ({ oid, stands, parents }) => oid !== undefined && stands.has(value) && !had(parents),
  );
  // A commit that was picked or rebased is younger than the one that it copies.
  const first = Math.min(...writers.map(({ committed }) => committed));
  return writers.filter(({ committed }) => committed === first);
}

/** Whether looking further back could not say more. */
function isFoundBelow(graph: Graph, value: OwnValue): boolean {
  const versions = [...graph.values()];
  const isOpen = ({ stands, parents }: Version): boolean =>
    stands.has(value) && parents.some((parent) => !graph.has(parent));
  if (versions.some(isOpen)) return false;
  const writers = findWriters(graph, value);
  return writers.length > 0 && writers.every((writer) => isBelow(graph, writer, value));
}

/** Whether a commit before this one had what falls. */
function isBelow(graph: Graph, { parents }: Version, value: OwnValue): boolean {
  const known = new Set(parents);
  for (const commit of known) {
    const version = graph.get(commit);
    if (version?.falls.has(value) === true) return true;
    for (const parent of version?.parents ?? []) known.add(parent);
  }
  return false;
}

async function isSeen(graph: Graph, value: OwnValue, blobs: BlobReader): Promise<boolean> {
  const writers = findWriters(graph, value);
  if (writers.length === 0) return [...graph.values()].some(({ falls }) => falls.has(value));
  for (const writer of writers) if (!(await hadSeen(graph, { writer, value, blobs }))) return false;
  return true;
}

async function hadSeen(
  graph: Graph,
  { writer, value, blobs }: { writer: Version; value: OwnValue; blobs: BlobReader },
): Promise<boolean> {
  if (writer.told.has(value)) return true;
  const own = await readMoves(blobs, writer.commit, value.id);
  const before = new Array<LoggedMove>();
  for (const parent of writer.parents) before.push(...(await readMoves(blobs, parent, value.id)));
  const ends = { first: value.mark.stamp, last: value.stands.stamp };
  // A rebase or a squash puts a write upon what its writer did not know; the log tells what it began with.
  const linked = areLinked([...own, ...before], ends);
  if (linked === false) return false;
  // The log goes along with the store, also to a branch that has not got the line itself.
  return isBelow(graph, writer, value) || areLinked(own, ends) === true;
}

async function readMoves(blobs: BlobReader, commit: string, id: string): Promise<LoggedMove[]> {
  const bytes = await blobs.read(commit, HISTORY_PATH);
  return bytes === undefined ? [] : findMoves(bytes, id);
}

/** The same, where values of the revision may have fallen against others that only this checkout has. */
export async function findSeenHereOrThere(
  values: readonly OwnValue[],
  { repo, rev }: { readonly repo: GitRepo; readonly rev: string },
): Promise<ReadonlySet<string>> {
  const ask = (is: boolean, where: string): Promise<ReadonlySet<string>> => {
    const asked = values.filter(({ is_theirs = false }) => is_theirs === is);
    return asked.length === 0 ? Promise.resolve(new Set()) : findSeenIn(asked, { repo, rev: where });
  };
  const seen = await Promise.all([ask(false, rev), ask(true, 'HEAD')]);
  return new Set(seen.flatMap((keys) => [...keys]));
}

/** The same of what is checked out around a task file; nothing where git has no commit of it. */
export async function findSeenAround(
  values: readonly OwnValue[],
  folder: string,
  env?: GitRepo['env'],
): Promise<ReadonlySet<string>> {
  const found = findRepository(folder);
  if (found === undefined) return new Set();
  const repo: GitRepo = { ...found, ...(env !== undefined && { env }) };
  const { exit } = await askGit(repo, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return exit === 0 ? findSeenIn(values, { repo, rev: 'HEAD' }) : new Set();
}
