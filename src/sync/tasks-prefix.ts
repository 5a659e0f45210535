import { closeSync, openSync, readSync } from 'node:fs';
import { isTaskId } from '#kernel/ids.ts';
import { lookAt } from './look-at.ts';
import type { ProjectPaths } from './project-paths.ts';
import { toTaskFiles } from './task-files.ts';

/** A part of the file is enough: nearly all ids of a project begin the same. */
const READ_BYTES = 1_000_000;

/**
 * What most ids in the working tree's task file begin with; undefined where it has none. For a clone that came with
 * tasks and without the config, which nobody has committed.
 */
export function findTasksPrefix(paths: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>): string | undefined {
  const { tasks } = toTaskFiles(paths);
  if (lookAt(tasks)?.isFile() !== true) return undefined;
  const counts = new Map<string, number>();
  for (const line of readBeginning(tasks).split('\n')) {
    // A line that was cut or cannot be read still shows its id, which comes first.
    const [, id = ''] = /^\s*\{"id":\s*"([^"]+)"/.exec(line) ?? [];
    const [prefix = ''] = id.split('-', 1);
    if (isTaskId(id)) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0];
}

function readBeginning(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(READ_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, READ_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
