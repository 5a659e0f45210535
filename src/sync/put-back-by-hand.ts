import { runGit } from '#git/run-git.ts';
import { isSealed } from '#domain/record-seal.ts';
import type { Environment } from './forge-home.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';

/** How far back a commit that changed the lines back is looked for. */
const COMMITS = 10;

/**
 * Whether a person changed lines back to what they were before an edit by hand, or git brought an older file. What git
 * writes into the working tree it notes in its index, so that another note means another writer; and a commit that
 * takes an edited line away says so itself.
 */
export async function isPutBackByHand(
  lines: readonly string[],
  { paths, env }: { readonly paths: Pick<ProjectPaths, 'root'>; readonly env: Environment },
): Promise<boolean> {
  const ask = async (args: readonly string[]): Promise<string> => {
    const { exit, stdout } = await runGit([...args, '--', TASKS_PATH], { cwd: paths.root, env });
    return exit === 0 ? stdout : '';
  };
  // In branch mode git knows nothing of the file.
  if ((await ask(['ls-files'])) === '') return true;
  if ((await ask(['diff-files', '--name-only'])) !== '') return true;
  if ((await ask(['diff-index', '--cached', '--name-only', 'HEAD'])) !== '') return true;
  const log = await ask([
    'log',
    `-${COMMITS}`,
    '--no-color',
    '--no-ext-diff',
    '--unified=0',
    '--format=',
    '-p',
  ]);
  return lines.some((line) => isTakenBack(log.split('\n'), line));
}

/** Whether the newest of these changes of the line took an edited one away. */
function isTakenBack(log: readonly string[], line: string): boolean {
  const start = line.slice(0, line.indexOf(',') + 1);
  const end = line.slice(line.lastIndexOf('"_v":"'));
  const added = log.indexOf(`+${line}`);
  if (added < 0) return false;
  // The lines of one change stand together: first what it took away.
  for (let at = added - 1; at >= 0 && !log[at]?.startsWith('@@'); at -= 1) {
    const gone = log[at] ?? '';
    if (gone.startsWith(`-${start}`) && gone.endsWith(end) && !isSealed(gone.slice(1))) return true;
  }
  return false;
}
