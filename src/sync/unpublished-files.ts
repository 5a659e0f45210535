import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGit } from '#git/run-git.ts';
import { ATTRIBUTE_LINES } from './attribute-lines.ts';
import { toMissingLines } from './file-lines.ts';
import { IGNORE_LINES } from './ignore-lines.ts';
import { lookAt } from './look-at.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { CONFIG_PATH } from './task-files.ts';

/** What `forge init` made for all clones besides the task files, and git does not have. */
export interface UnpublishedFiles {
  readonly files: readonly string[];
  /** Git's files in the working tree with changes of the user besides Forge's lines: theirs to stage. */
  readonly edited: readonly string[];
}

/** Written by Forge alone. */
const OWN_FILES = [CONFIG_PATH, '.forge/hooks/pre-commit', '.forge/hooks/post-merge'] as const;
export const HOOK_FILES: ReadonlySet<string> = new Set(OWN_FILES.slice(1));
/** The user's, with lines of Forge. */
const LINE_FILES = { '.gitattributes': ATTRIBUTE_LINES, '.gitignore': IGNORE_LINES } as const;

/**
 * For a commit that carries tasks while git does not have the config: a clone of it would find tasks and no project.
 * `rev` is what the commit is made of: `HEAD`, or the empty text for the index of the hook's environment.
 */
export async function findUnpublished(
  { root }: Pick<ProjectPaths, 'root'>,
  { env }: Pick<Machine, 'env'>,
  rev: 'HEAD' | '',
): Promise<UnpublishedFiles> {
  const files: string[] = [];
  const edited: string[] = [];
  const readThere = async (path: string): Promise<string | undefined> => {
    const { stdout, exit } = await runGit(['cat-file', 'blob', `${rev}:${path}`], { cwd: root, env });
    return exit === 0 ? stdout : undefined;
  };
  for (const path of OWN_FILES)
    if (lookAt(join(root, path))?.isFile() === true && (await readThere(path)) === undefined)
      files.push(path);
  for (const [path, lines] of Object.entries(LINE_FILES)) {
    if (lookAt(join(root, path))?.isFile() !== true) continue;
    const there = toUnixLines((await readThere(path)) ?? '');
    const missing = toMissingLines(there, lines);
    if (missing === '') continue;
    const here = toUnixLines(readFileSync(join(root, path), 'utf8'));
    if (here === there + missing) files.push(path);
    else edited.push(path);
  }
  return { files, edited };
}

/** Git may have written the file with other line ends than it keeps. */
function toUnixLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** What the person should know whose own changes keep lines of Forge out of a commit. */
export function tellEdited(edited: readonly string[]): string[] {
  if (edited.length === 0) return [];
  return [
    `${edited.join(' and ')} ${edited.length === 1 ? 'has' : 'have'} changes of your own, so Forge's lines in there are not in this commit: git add ${edited.join(' ')}`,
  ];
}
