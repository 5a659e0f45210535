import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  addAttributeLines,
  addCloneAttributes,
  ATTRIBUTE_LINES,
  moveAttributeLinesLast,
} from './attribute-lines.ts';
import { describeAltering, ALTERING_HINT, listAltering } from './altering-attributes.ts';
import type { Finding } from './examine-project.ts';
import { toMissingLines } from './file-lines.ts';
import { addIgnoreLines, IGNORE_LINES } from './ignore-lines.ts';
import { describeIgnored, IGNORED_HINT, listIgnoredFiles } from './ignored-files.ts';
import { lookAt } from './look-at.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

const NAME = 'git files';

/** Whether `.gitignore` and `.gitattributes` have Forge's lines, and whether other rules undo what these say. */
export async function examineGitFiles(
  paths: ProjectPaths,
  { machine, fix }: { readonly machine: Machine; readonly fix: boolean },
): Promise<Finding> {
  const { root } = paths;
  const places = [
    { file: '.gitignore', lines: IGNORE_LINES },
    { file: '.gitattributes', lines: ATTRIBUTE_LINES },
  ];
  const missing = places.filter(
    ({ file, lines }) => toMissingLines(readText(join(root, file)), lines) !== '',
  );
  const named = missing.map(({ file }) => file).join(' and ');
  if (missing.length > 0 && !fix)
    return {
      name: NAME,
      state: 'warning',
      message: `lines are missing in ${named}`,
      hint: 'forge doctor --fix',
    };
  if (fix) {
    addIgnoreLines(paths, []);
    addAttributeLines(paths, []);
    addCloneAttributes(paths);
  }
  const repo = toGitRepo(root, machine);
  const altering = await listAltering(repo);
  if (fix && altering.length > 0) moveAttributeLinesLast(paths);
  const left = fix && altering.length > 0 ? await listAltering(repo) : altering;
  if (left.length > 0)
    return { name: NAME, state: 'warning', message: describeAltering(left), hint: ALTERING_HINT };
  const ignored = await listIgnoredFiles(repo);
  if (ignored.length > 0) {
    const message = `files of the project are ignored by git, so that no commit takes them: ${describeIgnored(ignored)}`;
    return { name: NAME, state: 'warning', message, hint: IGNORED_HINT };
  }
  if (missing.length > 0)
    return { name: NAME, state: 'fixed', message: `added the lines of ${named}`, hint: null };
  if (altering.length > 0)
    return {
      name: NAME,
      state: 'fixed',
      message: 'put the lines of .gitattributes behind all others',
      hint: null,
    };
  return { name: NAME, state: 'ok', message: '.gitignore and .gitattributes have their lines', hint: null };
}

function readText(path: string): string {
  try {
    return lookAt(path)?.isFile() === true ? readFileSync(path, 'latin1') : '';
  } catch {
    return '';
  }
}
