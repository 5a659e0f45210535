import { readBlob } from '#git/read-blob.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';

/** `.forge/tasks.jsonl` as a commit or branch has it; undefined where it has none. */
export function readTaskFileAt(
  paths: ProjectPaths,
  rev: string,
  machine: Machine,
): Promise<Buffer | undefined> {
  return readBlob(toGitRepo(paths.root, machine), rev, TASKS_PATH);
}
