import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';

/**
 * What a folder takes of the disk, links not followed. Zero where it is gone; at least so much where it has too many
 * entries, or it takes longer than `until` (of `performance.now`).
 */
export async function measureFolder(
  path: string,
  limits: { readonly entries?: number; readonly until?: number } = {},
): Promise<number> {
  const { until = Number.POSITIVE_INFINITY } = limits;
  let left = limits.entries ?? LIMITS.workspace_entries;
  let bytes = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of listEntries(folder)) {
      left -= 1;
      if (left < 0 || performance.now() > until) return bytes;
      if (entry.isDirectory) folders.push(entry.path);
      bytes += await sizeOf(entry.path);
    }
  }
  return bytes;
}

/** What goes away meanwhile takes nothing any more. */
async function* listEntries(folder: string): AsyncGenerator<{ path: string; isDirectory: boolean }> {
  try {
    for await (const entry of await opendir(folder))
      yield { path: join(folder, entry.name), isDirectory: entry.isDirectory() };
  } catch {
    // Gone, or not for us to read.
  }
}

const BLOCK = 512;

async function sizeOf(path: string): Promise<number> {
  try {
    const { blocks, size } = await lstat(path);
    return blocks === undefined ? size : blocks * BLOCK;
  } catch {
    return 0;
  }
}
