import { listVersions, openBlobReader, type FileVersion } from '#git/read-blob.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import { changedNames } from '#domain/describe-change.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { parseIso, toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import type { HistoryEntry } from '#store/report.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';

/** The commits of any branch that changed a task's line, oldest first. */
export async function readGitHistory(
  paths: ProjectPaths,
  id: string,
  machine: Machine,
): Promise<HistoryEntry[]> {
  const repo = toGitRepo(paths.root, machine);
  await using blobs = openBlobReader(repo);
  const known = new Map<string, string | undefined>();
  const lineAt = async (rev: string | undefined): Promise<string | undefined> => {
    if (rev === undefined) return undefined;
    if (!known.has(rev)) known.set(rev, findLine(await blobs.read(rev, TASKS_PATH), id));
    return known.get(rev);
  };
  const entries: HistoryEntry[] = [];
  for await (const version of listVersions(repo, TASKS_PATH, { from: 'every ref' })) {
    const after = await lineAt(version.commit);
    const before = await lineAt(version.parents[0]);
    if (after !== before) entries.push(toEntry(version, before, after));
  }
  return entries.reverse();
}

/** Files of Forge have the id first; anything else is found by parsing nothing and skipped. */
function findLine(bytes: Buffer | undefined, id: string): string | undefined {
  const start = bytes?.lastIndexOf(`{"id":"${id}",`) ?? -1;
  if (bytes === undefined || start < 0) return undefined;
  const end = bytes.indexOf(0x0a, start);
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end);
}

function toEntry(version: FileVersion, before: string | undefined, after: string | undefined): HistoryEntry {
  const [was, is] = [decode(before), decode(after)];
  const changed = was === undefined || is === undefined ? [] : changedNames(was, is);
  const commit = version.commit.slice(0, 10);
  return {
    seq: null,
    type: 'git.committed',
    at: toIso(parseIso(version.date) ?? 0),
    triggered_by: version.author,
    summary: `${commit} ${version.subject}: ${describe(before, after, changed)}`,
    changed,
    from_state: was?.life.state ?? null,
    to_state: is?.life.state ?? null,
    reason: null,
  };
}

function describe(before: string | undefined, after: string | undefined, changed: readonly string[]): string {
  if (before === undefined) return 'came into the file';
  if (after === undefined) return 'left the file';
  return changed.length === 0 ? 'written anew' : `changed ${changed.join(', ')}`;
}

function decode(line: string | undefined): TaskRecord | undefined {
  if (line === undefined) return undefined;
  try {
    return decodeRecord(parseJson(line, 'The line') as JsonObject);
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}
