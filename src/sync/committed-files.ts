import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { readTreeEntries } from '#git/private-index.ts';
import { readRef } from '#git/read-ref.ts';
import { startBlobName } from '#git/store-blob.ts';
import type { FileMark, Replication } from '#store/replication.ts';
import { isSameFile, statFile, toPlainDigest } from './file-changes.ts';
import { type Machine, toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { HISTORY_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

/** What a commit has of the task files, by the names that git has for their bytes. */
export interface CommittedFiles {
  readonly role: 'HEAD' | 'MERGE_HEAD' | 'NEXT';
  /** For what is staged (`NEXT`) the one that it is staged upon. */
  readonly commit: string;
  readonly tasks: string | undefined;
  readonly history: string | undefined;
  /** Of what is staged: it was added from the working tree, which may have gone on since. */
  readonly was_in_tree?: boolean | undefined;
}

/** Of HEAD, and of what is being merged into it; nothing before the first commit. */
export async function readCommittedFiles(repo: GitRepo): Promise<readonly CommittedFiles[]> {
  const head = await readRef(repo, 'HEAD');
  if (head === undefined) return [];
  const merged = readMergeHeads(repo).map((commit) => readCommit(repo, 'MERGE_HEAD', commit));
  return Promise.all([readCommit(repo, 'HEAD', head), ...merged]);
}

export async function readCommit(
  repo: GitRepo,
  role: CommittedFiles['role'],
  commit: string,
): Promise<CommittedFiles> {
  const entries = await readTreeEntries(repo, commit, [TASKS_PATH, HISTORY_PATH]);
  return {
    role,
    commit,
    tasks: entries.get(TASKS_PATH)?.oid,
    history: entries.get(HISTORY_PATH)?.oid,
  };
}

/** None outside of a merge, several in an octopus merge. */
export function readMergeHeads({ git_dir }: GitRepo): string[] {
  const text = readPlainFile(join(git_dir, 'MERGE_HEAD'))?.toString('utf8') ?? '';
  return text.match(/^[0-9a-f]{40,64}$/gm) ?? [];
}

/** Where it is remembered which version was joined in: of the last commit, and the one for the next. */
type Place = CommittedFiles['role'];
const PLACES: readonly Place[] = ['HEAD', 'MERGE_HEAD', 'NEXT'];

/**
 * The key of a version in the store. Lines of it that cannot be read are carried into the file, and counted there: so it
 * has the name of an import, of which none are counted.
 */
export function toCommittedKey(file: string, place: Place): string {
  return `import:${place}:${file}`;
}

/** Whether the store has seen all that this version of a file holds. */
export async function isCommittedKnown(
  store: Pick<Replication, 'readMarks' | 'saveMark'>,
  { file, oid, now }: { readonly file: string; readonly oid: string; readonly now: number },
): Promise<boolean> {
  const keys = PLACES.map((place) => toCommittedKey(file, place));
  const marks = await store.readMarks([...keys, file]);
  if (marks.some((mark) => mark.path !== file && toPlainDigest(mark) === oid)) return true;
  const own = marks.find(({ path }) => path === file);
  if (!isFileAsCommitted(file, own, oid)) return false;
  await noteCommitted(store, { file, oid, place: 'HEAD', now });
  return true;
}

/** Remembers a version of which the store has all. */
export async function noteCommitted(
  store: Pick<Replication, 'saveMark'>,
  {
    file,
    oid,
    place,
    now,
  }: { readonly file: string; readonly oid: string; readonly place: Place; readonly now: number },
): Promise<void> {
  const none = { size: 0, mtime: '0', ctime: '0', inode: '0', event_seq: null };
  await store.saveMark({ path: toCommittedKey(file, place), ...none, digest: oid, looked_at: now });
}

/** Remembers what HEAD has, where the working tree has the same, and the store has seen it there. */
export async function noteHead(
  { store, paths }: { readonly store: Replication; readonly paths: ProjectPaths },
  { env, now }: Pick<Machine, 'env'> & { readonly now: number },
): Promise<void> {
  const repo = toGitRepo(paths.root, { env });
  const head = await readRef(repo, 'HEAD');
  if (head === undefined) return;
  const files = toTaskFiles(paths);
  const { tasks, history } = await readCommit(repo, 'HEAD', head);
  for (const [file, oid] of [
    [files.tasks, tasks],
    [files.history, history],
  ] as const) {
    if (oid !== undefined) await isCommittedKnown(store, { file, oid, now });
  }
}

/** Whether the working tree has this very version, and the store has seen it there. */
function isFileAsCommitted(file: string, mark: FileMark | undefined, oid: string): boolean {
  const stats = statFile(file);
  if (stats === undefined || mark === undefined || !isSameFile(stats, mark)) return false;
  return nameFile(file, oid) === oid;
}

/** The name that git has for a file as it is, where no filter stands between them; of the same sort as `like`. */
export function nameFile(file: string, like: string): string {
  const bytes = readFileSync(file);
  const name = startBlobName(bytes.length, like.length === SHA1_LENGTH ? 'sha1' : 'sha256');
  name.update(bytes);
  return name.end();
}

const SHA1_LENGTH = 40;
