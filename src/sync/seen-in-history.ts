import { askGit, streamFromGit, type GitRepo } from '#git/ask-git.ts';
import { findRepository } from '#git/find-repository.ts';
import { openBlobReader } from '#git/read-blob.ts';
import { hasLife } from '#domain/own-values.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { toOwnKey, type OwnValue } from '#store/sync-store.ts';
import { TASKS_PATH } from './task-files.ts';

/** Versions of the task file that are looked through; what an older one holds counts as not seen, and nothing is lost. */
const VERSIONS = 500;
/** Commits are dated by the clock of another machine. */
const SKEW_MS = 86_400_000;
const SECOND_MS = 1_000;

/** Which of these values of a store the writers of something had seen, as `toOwnKey` names them. */
export type FindSeen = (values: readonly OwnValue[]) => Promise<ReadonlySet<string>>;

/**
 * Which of these values a task file of a revision's history holds: that is the only way by which the writers of the
 * revision can have learnt of them there. Newest first, and no further back than to the oldest of the values.
 */
export async function findSeenIn(
  values: readonly OwnValue[],
  { repo, rev }: { readonly repo: GitRepo; readonly rev: string },
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  const oldest = Math.min(...values.map(({ mark }) => mark.stamp)) - SKEW_MS;
  const left = new Set(values);
  await using blobs = openBlobReader(repo);
  for await (const { commit, at } of listCommits(repo, rev)) {
    if (at < oldest || left.size === 0) break;
    const bytes = await blobs.read(commit, TASKS_PATH);
    if (bytes === undefined) continue;
    for (const value of left) {
      if (!findRecords(bytes, value.id).some((record) => hasLife(record, value.mark))) continue;
      seen.add(toOwnKey(value));
      left.delete(value);
    }
  }
  return seen;
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

async function* listCommits(repo: GitRepo, rev: string): AsyncGenerator<{ commit: string; at: number }> {
  const args = ['log', '-z', `-${VERSIONS}`, '--no-follow', '--full-history', '--format=%H %ct', rev];
  for await (const line of streamFromGit(repo, [...args, '--', `:(top,literal)${TASKS_PATH}`])) {
    const [commit = '', seconds] = line.split(' ');
    yield { commit, at: Number(seconds) * SECOND_MS };
  }
}

/** Every line of a task; a file that is only added to has several. Lines that are not as Forge writes them are passed over. */
function findRecords(bytes: Buffer, id: string): TaskRecord[] {
  const records: TaskRecord[] = [];
  const mark = `{"id":${JSON.stringify(id)},`;
  for (let start = bytes.indexOf(mark); start >= 0; start = bytes.indexOf(mark, start + mark.length)) {
    if (start > 0 && bytes[start - 1] !== NEWLINE) continue;
    const end = bytes.indexOf(NEWLINE, start);
    const record = tryDecode(bytes.toString('utf8', start, end < 0 ? bytes.length : end));
    if (record !== undefined) records.push(record);
  }
  return records;
}

const NEWLINE = 0x0a;

function tryDecode(line: string): TaskRecord | undefined {
  try {
    return decodeRecord(parseJson(line, 'The line') as JsonObject);
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}
