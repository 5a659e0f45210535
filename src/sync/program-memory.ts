import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import type { ForgeProgram } from './forge-program.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';

/** For commands that write, by one small file: whether entries were last looked at for this very program. */
export function areEntriesKnown(
  { store_dir }: Pick<ProjectPaths, 'store_dir'>,
  program: ForgeProgram,
): boolean {
  return readPlainFile(toMemoryPath(store_dir))?.toString('utf8') === toMemory(program);
}

export function rememberProgram(
  { store_dir, common_dir }: Pick<ProjectPaths, 'store_dir' | 'common_dir'>,
  program: ForgeProgram,
): void {
  if (!existsSync(store_dir)) return;
  try {
    replaceFile(toMemoryPath(store_dir), toMemory(program), readSharedModes(common_dir).file);
  } catch {
    // Only a short cut: the next command looks again.
  }
}

function toMemory({ node, script }: ForgeProgram): string {
  return `${JSON.stringify({ node, script })}\n`;
}

function toMemoryPath(store_dir: string): string {
  return join(store_dir, 'program.json');
}
