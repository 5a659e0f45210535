import { escapeText } from '#kernel/text.ts';
import { getFromGit, type GitRepo } from './ask-git.ts';

export interface FileChange {
  readonly path: string;
  /** What kind of thing it was and is, in git's numbers; zeros where there was none. */
  readonly modes: { readonly before: string; readonly after: string };
  /** Of what it holds afterwards; zeros where it was removed. */
  readonly blob: string;
  /** Null for a file that is not text. */
  readonly insertions: number | null;
  readonly deletions: number | null;
}

/** The files in which two commits differ. Without renames and filters: what changed, not how it looks. */
export async function listChanges(
  repo: GitRepo,
  { base, head }: { readonly base: string; readonly head: string },
): Promise<FileChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--numstat', '--no-abbrev', '--no-renames'];
  const output = await getFromGit(repo, [...args, '--no-ext-diff', '--no-textconv', base, head, '--']);
  const parts = output.split('\0').filter((part) => part !== '');
  const states = new Map<string, Pick<FileChange, 'modes' | 'blob'>>();
  const changes: FileChange[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (part.startsWith(':')) {
      // `:100644 100644 <old> <new> M`, and then the path.
      at += 1;
      const [before = '', after = '', , blob = ''] = part.slice(1).split(' ');
      states.set(parts[at] ?? '', { modes: { before, after }, blob });
      continue;
    }
    const [added = '-', removed = '-', ...rest] = part.split('\t');
    const path = rest.join('\t');
    const count = (text: string): number | null => (text === '-' ? null : Number(text));
    const state = states.get(path) ?? { modes: { before: '', after: '' }, blob: '' };
    changes.push({ path, ...state, insertions: count(added), deletions: count(removed) });
  }
  return changes;
}

/** The same as a patch, cut where it is longer than that. Of every file, with any attributes; nothing is hidden. */
export async function readPatch(
  repo: GitRepo,
  { base, head }: { readonly base: string; readonly head: string },
  most: number,
): Promise<string> {
  const args = ['diff-tree', '-p', '--text', '--no-color', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const patch = escapeText(await getFromGit(repo, [...args, base, head, '--']));
  if (patch.length <= most) return patch;
  return `${patch.slice(0, most)}\n… ${patch.length - most} more characters`;
}
