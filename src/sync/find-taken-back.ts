import { askGit, type GitRepo } from '#git/ask-git.ts';
import { listHeadMoves } from '#git/head-moves.ts';
import { findMergeBases } from '#git/merge-base.ts';
import { openBlobReader, resolveRev, type BlobReader } from '#git/read-blob.ts';
import { listMergeChanges } from '#domain/merge-changes.ts';
import { isTakenBack, TakenBackSearch, type PutBackLine } from '#domain/taken-back.ts';
import { splitText } from './read-file-lines.ts';
import { TASKS_PATH } from './task-files.ts';
import { idOfLine } from './trace-lines.ts';

/** How far back a commit that changed the lines back is looked for. */
const COMMITS = 500;
const FEW = 20;

interface SearchedCommits {
  readonly repo: GitRepo;
  readonly revs: readonly string[];
  /** When the file was last looked at, and what was checked out then, where the commits since are all that count. */
  readonly looked?: Looked;
  /** The lines stand in the file of the working tree, which is not as HEAD has it. */
  readonly is_written?: boolean;
}

interface Looked {
  readonly rev?: string;
  readonly at: number;
  /** What HEAD moved to last was not checked out then. */
  readonly is_before_move?: boolean;
}

/** The lines that a commit of these revisions changed back, which was not there at the last look. */
export async function findTakenBack(
  lines: readonly PutBackLine[],
  { repo, revs, looked, is_written }: SearchedCommits,
): Promise<readonly PutBackLine[]> {
  const search = new TakenBackSearch(lines);
  const needsLooked = looked !== undefined && lines.some(({ known }) => known === true);
  const before = needsLooked ? await listLooked(repo, revs, looked) : new Set<string>();
  await using reader = openBlobReader(repo);
  if (is_written === true) search.takeWritten(await readWritten(reader, search.left));
  for (const { commit, parents } of search.left.length === 0
    ? []
    : await listCommits(repo, revs, looked?.rev)) {
    if (search.left.length === 0) break;
    const asked = { commit, parents, lines: search.left };
    const changes =
      parents.length > 1 ? await readMerge(repo, reader, asked) : await readChanges(reader, asked);
    search.take(changes, before.has(commit));
  }
  return search.found;
}

/**
 * Where the history is cut off no commit can be asked: what was there in one of `before`, and is not in a later commit, was
 * changed back on the way.
 */
export async function findTakenBackSince(
  lines: readonly PutBackLine[],
  { repo, before }: { readonly repo: GitRepo; readonly before: readonly string[] },
): Promise<readonly PutBackLine[]> {
  const commit = await resolveRev(repo, 'HEAD');
  if (commit === undefined || lines.length === 0) return [];
  const found = new Set<PutBackLine>();
  await using reader = openBlobReader(repo);
  for (const rev of before) {
    const parent = await resolveRev(repo, rev);
    if (parent === undefined || (await readTime(repo, parent)) > (await readTime(repo, commit))) continue;
    const changes = await readChanges(reader, { commit, parents: [parent], lines });
    for (const line of lines) if (isTakenBack([changes], line)) found.add(line);
  }
  return [...found];
}

async function readTime(repo: GitRepo, commit: string): Promise<number> {
  const { stdout } = await askGit(repo, ['log', '-1', '--format=%ct', commit, '--']);
  return Number(stdout.trim());
}

interface Listed {
  readonly commit: string;
  readonly parents: readonly string[];
}

/** The commits of these revisions that were checked out once, or came before one that was, until then. */
async function listLooked(
  repo: GitRepo,
  revs: readonly string[],
  { at: until, is_before_move }: Looked,
): Promise<Set<string>> {
  const moves = (await listHeadMoves(repo, COMMITS)).slice(is_before_move === true ? 1 : 0);
  const heads = moves.filter(({ at }) => at <= until).map(({ commit }) => commit);
  const args = ['rev-list', `-${COMMITS}`, '--topo-order', ...revs];
  const all = await askGit(repo, [...args, '--']);
  const input = [...new Set(heads)].map((head) => `^${head}\n`).join('');
  const fresh = await askGit(repo, [...args, '--stdin', '--'], { input });
  if (all.exit !== 0 || fresh.exit !== 0) return new Set();
  const isFresh = new Set(fresh.stdout.split('\n'));
  return new Set(all.stdout.split('\n').filter((commit) => commit !== '' && !isFresh.has(commit)));
}

/** Newest first; with all merges, and each with the commits before it that changed the file. */
async function listCommits(repo: GitRepo, revs: readonly string[], known?: string): Promise<Listed[]> {
  const args = [
    'log',
    `-${COMMITS}`,
    '--full-history',
    '--parents',
    '--topo-order',
    '--format=%H %P',
    ...revs,
  ];
  const log = (more: readonly string[]) =>
    askGit(repo, [...args, ...more, '--', `:(top,literal)${TASKS_PATH}`]);
  const some = known === undefined ? undefined : await log([`^${known}`]);
  // Without a reflog all commits may be new.
  const { stdout } = some?.exit === 0 ? some : await log([]);
  return stdout.split('\n').flatMap((line) => {
    const [commit = '', ...parents] = line.split(' ').filter((word) => word !== '');
    return commit === '' ? [] : [{ commit, parents }];
  });
}

interface AskedCommit extends Listed {
  readonly lines: readonly PutBackLine[];
}

/**
 * What a commit took from the file and brought into it, of these lines only. Read from both versions: a difference as git
 * shows it depends on attributes of the file, and its lines are not ours where a tool wrote objects over several lines.
 */
async function readChanges(reader: BlobReader, { commit, parents, lines }: AskedCommit): Promise<string[]> {
  const before = await readLines(reader, parents[0], lines);
  return listChanges(before, await readLines(reader, commit, lines));
}

/** The same of what no commit has yet. */
async function readWritten(reader: BlobReader, lines: readonly PutBackLine[]): Promise<string[]> {
  const before = await readLines(reader, 'HEAD', lines);
  return listChanges(before, new Set(lines.map(({ text }) => text)));
}

function listChanges(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  return [
    ...[...before].filter((text) => !after.has(text)).map((text) => `-${text}`),
    ...[...after].filter((text) => !before.has(text)).map((text) => `+${text}`),
  ];
}

/** The same of a merge, which says only what a person said by it. */
async function readMerge(
  repo: GitRepo,
  reader: BlobReader,
  { commit, parents, lines }: AskedCommit,
): Promise<string[]> {
  const sides: Set<string>[] = [];
  for (const parent of parents) sides.push(await readLines(reader, parent, lines));
  const result = await readLines(reader, commit, lines);
  const isSame = (side: Set<string>): boolean =>
    side.size === result.size && [...side].every((line) => result.has(line));
  if (sides.every(isSame)) return [];
  const bases: Set<string>[] = [];
  for (const rev of await findMergeBases(repo, parents)) bases.push(await readLines(reader, rev, lines));
  return listMergeChanges({ result, parents: sides, bases }, idOfLine);
}

async function readLines(
  reader: BlobReader,
  rev: string | undefined,
  lines: readonly PutBackLine[],
): Promise<Set<string>> {
  const bytes = rev === undefined ? undefined : await reader.read(rev, TASKS_PATH);
  if (bytes === undefined) return new Set();
  const texts = [...splitText(bytes.toString('utf8'))].map(({ text }) => text);
  // Looking for each of many takes longer than comparing all lines.
  if (lines.length > FEW) return new Set(texts);
  const seals = lines.map(({ seal }) => `"${seal}"`);
  return new Set(texts.filter((text) => seals.some((seal) => text.includes(seal))));
}
