import { isSealed } from '#domain/record-seal.ts';
import type { GitRepo } from '#git/ask-git.ts';
import type { FileCommit } from '#git/file-commits.ts';
import { type BlobReader, openBlobReader } from '#git/read-blob.ts';
import { readJson } from '#kernel/read-json.ts';
import { type LinesByPath, readLinesAt, TRACED_PATHS } from './attempt-targets.ts';
import { TASKS_PATH } from './task-files.ts';

/** Whose lines the commits have written, as `toLineKey` names them. */
export interface TracedLines {
  /** Agents'. */
  readonly held: Set<string>;
  /** Of persons. */
  readonly free: ReadonlySet<string>;
  /** Tasks that have lines of agents. */
  readonly tasks: Set<string>;
}

export function toLineKey(path: string, text: string): string {
  return `${path}:${text}`;
}

/**
 * Follows the lines through the commits. A line is the agent's where a commit of an attempt wrote it, where a merge made
 * it of such a one, or where a person edited such a one by hand. One that a clone of a person's wrote instead is theirs.
 */
export async function traceLines(
  repo: GitRepo,
  {
    commits,
    own,
    taken,
  }: {
    readonly commits: readonly FileCommit[];
    readonly own: ReadonlySet<FileCommit>;
    readonly taken: LinesByPath;
  },
): Promise<TracedLines> {
  const traced = { held: new Set<string>(), free: new Set<string>(), tasks: new Set<string>() };
  await using reader = openBlobReader(repo);
  for (const one of commits) {
    for (const path of TRACED_PATHS) {
      const before = await readParents(reader, one, path);
      for (const text of await readLinesAt(reader, one.commit, path)) {
        if (before.has(text) || taken.get(path)?.has(text) === true) continue;
        const id = idOfLine(text);
        if (!isAgents(one, { text, id, before, own, traced })) {
          traced.free.add(toLineKey(path, text));
          continue;
        }
        traced.held.add(toLineKey(path, text));
        if (id !== undefined) traced.tasks.add(id);
      }
    }
  }
  return traced;
}

function isAgents(
  one: FileCommit,
  {
    text,
    id,
    before,
    own,
    traced: { held, tasks },
  }: {
    readonly text: string;
    readonly id: string | undefined;
    readonly before: ReadonlySet<string>;
    readonly own: ReadonlySet<FileCommit>;
    readonly traced: TracedLines;
  },
): boolean {
  if (own.has(one)) return true;
  if (id === undefined || !tasks.has(id)) return false;
  if (one.parents.length > 1) return true;
  return (
    !isSealed(text) &&
    [...before].some((line) => held.has(toLineKey(TASKS_PATH, line)) && idOfLine(line) === id)
  );
}

async function readParents(reader: BlobReader, one: FileCommit, path: string): Promise<Set<string>> {
  const lines = new Set<string>();
  for (const parent of one.parents)
    for (const text of await readLinesAt(reader, parent, path)) lines.add(text);
  return lines;
}

/** Lines that Forge wrote tell it at their beginning. */
export function idOfLine(text: string): string | undefined {
  const [, quick] = /^\{"id":"([A-Za-z0-9._-]+)"/.exec(text) ?? [];
  if (quick !== undefined) return quick;
  try {
    const { id } = readJson(text) as { readonly id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
