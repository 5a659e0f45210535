import { getFromGit } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';

/** What lies between two commits. */
export interface Changes {
  readonly changed_files: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly files: readonly string[];
  readonly gitlinks: Gitlinks;
}

/** Commits of other repositories at a path. */
export interface Gitlinks {
  readonly added: readonly string[];
  readonly changed: readonly string[];
}

const NOTHING: Changes = {
  changed_files: 0,
  insertions: 0,
  deletions: 0,
  files: [],
  gitlinks: { added: [], changed: [] },
};

const DIFF = [
  'diff-tree',
  '-r',
  '-z',
  '--raw',
  '--numstat',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
];

/** Without renames and filters: what changed, not how it looks. */
export async function readChanges(control: ControlGit, base: string, head: string): Promise<Changes> {
  if (base === head) return NOTHING;
  const fields = (await getFromGit(control, [...DIFF, base, head])).split('\0').slice(0, -1);
  const gitlinks = { added: [] as string[], changed: [] as string[] };
  let at = 0;
  // Modes and paths by turns; the counts come after all of them.
  for (; fields[at]?.startsWith(':') === true; at += 2) {
    const [, before, after] = /^:(\d+) (\d+) /.exec(fields[at] ?? '') ?? [];
    if (after !== '160000') continue;
    (before === '160000' ? gitlinks.changed : gitlinks.added).push(fields[at + 1] ?? '');
  }
  const rows = fields.slice(at).map((line) => line.split('\t'));
  const sum = (column: number): number => rows.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  const files = rows.map((row) => row.slice(2).join('\t'));
  return { changed_files: files.length, insertions: sum(0), deletions: sum(1), files, gitlinks };
}
