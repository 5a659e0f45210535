import { chmodSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { toFileError } from './file-error.ts';
import { toPortableLine } from './hooks/hook-block.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';

const READABLE = {
  'pre-commit': 'Before a commit, Forge writes the tasks to .forge/tasks.jsonl and stages that file.',
  'post-merge': 'After a merge or pull, Forge takes over what the others changed in .forge/tasks.jsonl.',
} as const;

/**
 * `.forge/hooks`: what Forge's hooks do, for people to read and for hook managers to call. Git never runs these: they
 * travel with branches, and a checkout must not change what runs. What is there already stays as it is, so that two
 * versions of Forge do not rewrite each other's; only the right to run comes back. `undo` gets the way back.
 */
export function writeReadableHooks(paths: ProjectPaths, undo: (() => void)[] = []): void {
  const folder = join(paths.forge_dir, 'hooks');
  try {
    checkFolder(paths.forge_dir);
    if (lookAt(folder) === undefined) {
      mkdirSync(folder);
      undo.push(() => rmdirSync(folder));
    }
    checkFolder(folder);
    for (const hook of ['pre-commit', 'post-merge'] as const) writeReadable(join(folder, hook), hook, undo);
  } catch (error) {
    throw toFileError(error, `Could not write ${folder}`);
  }
}

function writeReadable(file: string, hook: keyof typeof READABLE, undo: (() => void)[]): void {
  const found = lookAt(file);
  if (found === undefined) {
    replaceFile(file, toReadableHook(hook), 0o777 & ~process.umask());
    undo.push(() => rmSync(file, { force: true }));
  } else if (found.isFile() && (found.mode & 0o100) === 0) chmodSync(file, found.mode | 0o111);
}

function toReadableHook(hook: keyof typeof READABLE): string {
  return `#!/bin/sh
# ${READABLE[hook]}
# This copy is for reading. What git runs is the block that forge hooks install writes into git's own hook, which
# names the program by its full path. A hook manager of the team can call Forge with this line:
${toPortableLine(hook)}
`;
}

/** A repository may come with a link here that leads out of it. */
function checkFolder(path: string): void {
  const found = lookAt(path);
  if (found?.isDirectory() === true) return;
  throw new ForgeError('already_exists', `${path} is in the way: it is not a folder`, {
    hint: 'Move it away, then run the command again',
    details: { path },
  });
}
