import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { askOnce } from './ask-once.ts';
import type { ControlGit } from './control-directory.ts';
import { toGitFailure } from './run-git.ts';

/**
 * Runs `work` with a working tree that has the target's `.gitattributes` and nothing else. A merge looks there for
 * how files are merged (`-merge` for a lock file, `union` for a log), and in a bare directory finds nothing: it would
 * silently merge what must not be. Undefined where the target has none. The drivers that they may name are not
 * there; such files are merged as text.
 */
export async function withAttributes<T>(
  control: ControlGit,
  target: string,
  work: (workTree: string | undefined) => Promise<T>,
): Promise<T> {
  const found = await listAttributes(control, target);
  if (found.length === 0) return work(undefined);
  const folder = await mkdtemp(join(tmpdir(), 'forge-attributes-'));
  try {
    for (const { path, oid } of found) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), await readBytes(control, oid));
    }
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** git itself does not follow one that is a link, and no path of a tree may lead out of it. */
async function listAttributes(
  control: ControlGit,
  target: string,
): Promise<readonly { readonly path: string; readonly oid: string }[]> {
  const text = (await getOnce(control, target, ['ls-tree', '-r', '-z', '--full-tree', target])).toString(
    'utf8',
  );
  const pattern = /(?:^|\0)100\d+ blob ([0-9a-f]+)\t((?:[^\0]*\/)?\.gitattributes)(?=\0)/g;
  const found = [...`${text}\0`.matchAll(pattern)].map(([, oid = '', path = '']) => ({ path, oid }));
  return found.filter(({ path }) => !path.startsWith('/') && !path.split('/').includes('..'));
}

function readBytes(control: ControlGit, oid: string): Promise<Buffer> {
  return getOnce(control, oid, ['cat-file', 'blob', oid]);
}

async function getOnce(control: ControlGit, object: string, args: readonly string[]): Promise<Buffer> {
  const { stdout, stderr, exit } = await askOnce(control, [object], args);
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  return stdout;
}
