import { listVersions, openBlobReader, type BlobReader } from '#git/read-blob.ts';
import type { DependencyType } from '#contract/task.ts';
import type { RememberedTask } from '#domain/decide-restore.ts';
import { decodeRecord, listDependencies } from '#domain/record-codec.ts';
import { fieldValue, type TaskRecord } from '#domain/task-record.ts';
import { parseIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { DeletedTask } from '#store/report.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';
import type { WorkMeter } from './work-meter.ts';

/**
 * What a deleted task held, and what hung on it, by the commits of any branch that changed the task file: those from
 * before the deletion first, the newest of them first. Undefined where none of so many knows the task.
 */
export async function rememberTask(
  paths: ProjectPaths,
  { id, deleted_at }: Pick<DeletedTask, 'id' | 'deleted_at'>,
  { machine, meter }: { readonly machine: Machine; readonly meter: WorkMeter },
): Promise<RememberedTask | undefined> {
  const repo = toGitRepo(paths.root, machine);
  await using blobs = openBlobReader(repo);
  const until = parseIso(deleted_at) ?? Number.POSITIVE_INFINITY;
  const later: string[] = [];
  let read = 0;
  try {
    for await (const { commit, date } of listVersions(repo, TASKS_PATH, { from: 'every ref' })) {
      if (read >= LIMITS.restore_versions) return undefined;
      // Commits of a rebase, or of a clone that knew nothing of the deletion, are asked last.
      if ((parseIso(date) ?? 0) > until + SECOND_MS) later.push(commit);
      else {
        meter(LABEL, (read += 1), LIMITS.restore_versions);
        const found = await lookInto(blobs, commit, id);
        if (found !== undefined) return found;
      }
    }
    for (const commit of later.slice(0, LIMITS.restore_versions - read)) {
      meter(LABEL, (read += 1), LIMITS.restore_versions);
      const found = await lookInto(blobs, commit, id);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    meter('', 0, 0);
  }
}

/**
 * The newest line of a task in the commits of any branch that changed the task file: of a task of which the store has never
 * heard, because its line left the file and the store was lost. Undefined where none of so many versions knows the task.
 */
export async function findLineInGit(
  paths: ProjectPaths,
  id: string,
  { machine, meter }: { readonly machine: Machine; readonly meter: WorkMeter },
): Promise<string | undefined> {
  const repo = toGitRepo(paths.root, machine);
  await using blobs = openBlobReader(repo);
  let read = 0;
  try {
    for await (const { commit } of listVersions(repo, TASKS_PATH, { from: 'every ref' })) {
      if (read >= LIMITS.restore_versions) return undefined;
      meter(LABEL, (read += 1), LIMITS.restore_versions);
      const bytes = await blobs.read(commit, TASKS_PATH);
      if (bytes?.includes(`"id":"${id}"`) !== true) continue;
      const found = listLinesWith(bytes, `"${id}"`).findLast((line) => decode(line)?.id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    meter('', 0, 0);
  }
}

const LABEL = 'Looking through git history';
/** Git's times have no fractions. */
const SECOND_MS = 1_000;

async function lookInto(blobs: BlobReader, commit: string, id: string): Promise<RememberedTask | undefined> {
  const bytes = await blobs.read(commit, TASKS_PATH);
  if (bytes?.includes(`"id":"${id}"`) !== true) return undefined;
  const lines = listLinesWith(bytes, `"${id}"`).flatMap((line) => {
    const record = decode(line);
    return record === undefined ? [] : [{ line, record }];
  });
  const own = lines.findLast(({ record }) => record.id === id);
  if (own === undefined || fieldValue(own.record, 'deleted_at') !== null) return undefined;
  const others = lines.map(({ record }) => record).filter((record) => record.id !== id);
  return {
    line: own.line,
    children: others.filter((one) => fieldValue(one, 'parent_id') === id).map((one) => one.id),
    dependents: others.flatMap(
      (one) =>
        listDependencies(one)
          .filter((edge) => edge.id === id)
          .map((edge) => [one.id, edge.type as DependencyType] as const), // decoded as such
    ),
  };
}

/** Of tens of thousands only a few name the task; the others are not parsed. */
function listLinesWith(bytes: Buffer, text: string): string[] {
  const lines: string[] = [];
  for (let at = bytes.indexOf(text); at >= 0;) {
    const start = bytes.lastIndexOf(0x0a, at) + 1;
    const next = bytes.indexOf(0x0a, at);
    const end = next < 0 ? bytes.length : next;
    lines.push(bytes.toString('utf8', start, end));
    at = bytes.indexOf(text, end);
  }
  return lines;
}

function decode(line: string): TaskRecord | undefined {
  try {
    return decodeRecord(parseJson(line, 'The line') as JsonObject);
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}
