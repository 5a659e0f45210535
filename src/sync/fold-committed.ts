import type { GitRepo } from '#git/ask-git.ts';
import { openBlobReader } from '#git/read-blob.ts';
import type { Writer } from '#store/store.ts';
import type { FileLine, FoldReport, Replication } from '#store/replication.ts';
import { type CarriedLines, NOTHING_CARRIED } from './carry-lines.ts';
import { type CommittedFiles, isCommittedKnown, toCommittedKey } from './committed-files.ts';
import { statFile } from './file-changes.ts';
import { foldAsking } from './fold-files.ts';
import { toTextFold, withoutHeld } from './fold-request.ts';
import type { HeldLines } from './held-lines.ts';
import { readFileLines, splitText } from './read-file-lines.ts';
import { findReplacedInTree } from './replaced-in-tree.ts';
import { findSeenIn, type FindSeen } from './seen-in-history.ts';
import { HISTORY_PATH, TASKS_PATH, type TaskFiles } from './task-files.ts';
import { idOfLine } from './trace-lines.ts';

export interface FoldedCommits {
  /** How many tasks changed. */
  readonly changed: number;
  readonly created: number;
  /** Lines that the store did not take, and that the files of the working tree lack. */
  readonly carried: CarriedLines;
}

/**
 * Joins in what commits have of the task files, before these are replaced: the working tree may never have had it (a
 * sparse checkout, a file that is gone, `git reset --soft`). A version that the store has seen before is not read again.
 */
export async function foldCommitted(
  store: Replication,
  files: TaskFiles,
  {
    repo,
    commits,
    by,
    findHeld,
  }: {
    readonly repo: GitRepo;
    readonly commits: readonly CommittedFiles[];
    readonly by: Writer;
    /** Of the working tree, or of another commit than HEAD. */
    readonly findHeld: (commit?: string) => Promise<HeldLines | undefined>;
  },
): Promise<FoldedCommits> {
  const carried = { tasks: new Array<string>(), history: new Array<string>() };
  let changed = 0;
  let created = 0;
  const versions = await listUnknown(store, files, commits, by.now);
  const here = versions.length === 0 ? undefined : await findHeld();
  for (const version of versions) {
    const held = version.role === 'MERGE_HEAD' ? await findHeld(version.commit) : here;
    const { report, left } = await foldVersion(store, version, { repo, by, held });
    if (report !== undefined) {
      changed += report.created + report.updated + report.deleted;
      created += report.created;
    }
    carried[version.part].push(...listLacking(version, left, here));
  }
  return { changed, created, carried: { ...carried, isTaken: here?.isTaken ?? NOTHING_CARRIED.isTaken } };
}

interface Version {
  readonly part: 'tasks' | 'history';
  readonly path: string;
  readonly file: string;
  readonly oid: string;
  readonly commit: string;
  readonly role: CommittedFiles['role'];
  readonly was_in_tree: boolean | undefined;
  /** What stands for the file in the store. */
  readonly key: string;
}

async function listUnknown(
  store: Replication,
  files: TaskFiles,
  commits: readonly CommittedFiles[],
  now: number,
): Promise<Version[]> {
  const versions: Version[] = [];
  for (const { role, commit, tasks, history, was_in_tree } of commits) {
    for (const { part, path, file, oid } of [
      { part: 'history', path: HISTORY_PATH, file: files.history, oid: history },
      { part: 'tasks', path: TASKS_PATH, file: files.tasks, oid: tasks },
    ] as const) {
      if (oid === undefined) continue;
      const isMissing = role === 'HEAD' && statFile(file) === undefined;
      if (!isMissing && (await isCommittedKnown(store, { file, oid, now }))) continue;
      // In the place of a file that is not there the commit is what the file shows.
      const key = isMissing ? file : toCommittedKey(file, role);
      versions.push({ part, path, file, oid, commit, role, was_in_tree, key });
    }
  }
  return versions;
}

const NO_LINES: ReadonlySet<string> = new Set();

/** The lines that the store did not take: those that are held, and those that cannot be read. */
async function foldVersion(
  store: Replication,
  { part, path, file, oid, commit, role, was_in_tree, key }: Version,
  { repo, by, held }: { readonly repo: GitRepo; readonly by: Writer; readonly held: HeldLines | undefined },
): Promise<{ readonly report: FoldReport | undefined; readonly left: readonly string[] }> {
  await using reader = openBlobReader(repo);
  const bytes = await reader.readObject(oid);
  if (bytes === undefined) return { report: undefined, left: [] };
  const all = [...splitText(bytes.toString('utf8'))];
  const isAsked = part === 'tasks' && role !== 'MERGE_HEAD' && key !== file && was_in_tree !== false;
  const asked = { commit, file, lines: all, was_in_tree };
  const replaced = isAsked ? await findReplacedInTree(repo, asked) : NO_LINES;
  const lines = replaced.size === 0 ? all : all.filter(({ text }) => !replaced.has(text));
  const left: FileLine[] = [];
  const request = withoutHeld(toTextFold(key, lines, { digest: oid, now: by.now }), { held, path, left });
  const findSeen: FindSeen = (values) => findSeenIn(values, { repo, rev: commit });
  const report = part === 'tasks' ? await foldAsking(store, request, { ...by, findSeen }) : undefined;
  const { unreadable } = report ?? (await store.foldHistory(request, by));
  const numbers = new Set(unreadable.map(({ number }) => number));
  const broken = lines.filter(({ number }) => numbers.has(number));
  return { report, left: [...left, ...broken].map(({ text }) => text) };
}

/** Those of the lines that the file of the working tree lacks. What was made of an agent's line is in its place. */
function listLacking(
  { file, path, key }: Version,
  lines: readonly string[],
  held: HeldLines | undefined,
): string[] {
  const isHeld = (text: string): boolean => held?.has(path, text) === true;
  // Of a file that is not there the store itself writes what cannot be read.
  if (key === file) return lines.filter(isHeld);
  if (lines.length === 0 || statFile(file) === undefined) return [...lines];
  const here = new Set([...readFileLines(file).lines].map(({ text }) => text));
  const ids = new Set([...here].flatMap((text) => (isHeld(text) ? (idOfLine(text) ?? []) : [])));
  return lines.filter((text) => !here.has(text) && !ids.has(idOfLine(text) ?? ''));
}
