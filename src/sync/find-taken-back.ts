import { askGit, type GitRepo } from '#git/ask-git.ts';
import { openBlobReader, resolveRev, type BlobReader } from '#git/read-blob.ts';
import { isTakenBack, TakenBackSearch, type PutBackLine } from '#domain/taken-back.ts';
import { splitText } from './read-file-lines.ts';
import { TASKS_PATH } from './task-files.ts';

/** How far back a commit that changed the lines back is looked for. */
const COMMITS = 500;

/** The lines that a commit of these revisions changed back, which was not there when `known` was. */
export async function findTakenBack(
  lines: readonly PutBackLine[],
  {
    repo,
    revs,
    known,
  }: { readonly repo: GitRepo; readonly revs: readonly string[]; readonly known?: string },
): Promise<readonly PutBackLine[]> {
  const search = new TakenBackSearch(lines);
  await using reader = openBlobReader(repo);
  for (const { commit, parents } of search.left.length === 0 ? [] : await listCommits(repo, revs, known)) {
    if (search.left.length === 0) break;
    // What a merge leaves out of one side, the other side had not.
    if (parents.length > 1) continue;
    search.take(await readChanges(reader, { commit, parent: parents[0], lines: search.left }));
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
    const changes = await readChanges(reader, { commit, parent, lines });
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

/** Newest first. */
async function listCommits(repo: GitRepo, revs: readonly string[], known?: string): Promise<Listed[]> {
  const args = ['log', `-${COMMITS}`, '--full-history', '--topo-order', '--format=%H %P', ...revs];
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

/**
 * What a commit took from the file and brought into it, of these lines only. Read from both versions: a difference as git
 * shows it depends on attributes of the file, and its lines are not ours where a tool wrote objects over several lines.
 */
async function readChanges(
  reader: BlobReader,
  {
    commit,
    parent,
    lines,
  }: { readonly commit: string; readonly parent: string | undefined; readonly lines: readonly PutBackLine[] },
): Promise<string[]> {
  const seals = lines.map(({ seal }) => `"${seal}"`);
  const read = async (rev: string | undefined): Promise<Set<string>> => {
    const bytes = rev === undefined ? undefined : await reader.read(rev, TASKS_PATH);
    if (bytes === undefined || !seals.some((seal) => bytes.includes(seal))) return new Set();
    const texts = [...splitText(bytes.toString('utf8'))].map(({ text }) => text);
    return new Set(texts.filter((text) => seals.some((seal) => text.includes(seal))));
  };
  const [before, after] = [await read(parent), await read(commit)];
  return [
    ...[...before].filter((text) => !after.has(text)).map((text) => `-${text}`),
    ...[...after].filter((text) => !before.has(text)).map((text) => `+${text}`),
  ];
}
