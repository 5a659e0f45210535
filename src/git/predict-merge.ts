import { copyFileSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askGit, type GitRepo } from './ask-git.ts';
import { gitEnvironment } from './git-environment.ts';
import { toObjectList } from './object-list.ts';
import { readBlob, resolveRev } from './read-blob.ts';
import { runGit, toShownStderr } from './run-git.ts';

export interface MergePrediction {
  readonly outcome: 'clean' | 'conflict' | 'unknown';
  /** Those of the asked paths that would be in conflict. */
  readonly conflicts: readonly string[];
  /** Why it is unknown. */
  readonly reason?: string;
}

/**
 * Whether a server would find conflicts in these paths when it merges `head` into `base`. Servers know no merge
 * drivers and no attributes, so the merge is made as one would make it: from a bare git directory of its own that
 * borrows the objects. Switching the driver off by configuration does not do: an empty or a failing one is still
 * run. Nothing is written into the repository. A git before 2.38 cannot merge so; there each path is merged by
 * itself, which sees no renames.
 */
export async function predictMerge(
  repo: GitRepo,
  base: string,
  head: string,
  paths: readonly string[],
): Promise<MergePrediction> {
  const [into, from] = [await resolveRev(repo, base), await resolveRev(repo, head)];
  const missing = into === undefined ? base : from === undefined ? head : undefined;
  if (into === undefined || from === undefined) return toUnknown(`There is no commit ${missing}`);
  const roots = await askGit(repo, ['merge-base', '--all', into, from]);
  if (roots.exit !== 0) return toUnknown(`${base} and ${head} have no commit in common`);
  const merged = await mergeAsServer(repo, into, from);
  if (merged !== undefined) return toPrediction(paths.filter((path) => merged.includes(path)));
  const [root = ''] = roots.stdout.split('\n');
  return predictByFile(repo, { root, ours: into, theirs: from }, paths);
}

function toUnknown(reason: string): MergePrediction {
  return { outcome: 'unknown', conflicts: [], reason };
}

function toPrediction(conflicts: readonly string[]): MergePrediction {
  return { outcome: conflicts.length > 0 ? 'conflict' : 'clean', conflicts };
}

/** The paths in conflict; undefined where this git cannot do it (too old, or objects that it would have to fetch). */
async function mergeAsServer(
  repo: GitRepo,
  ours: string,
  theirs: string,
): Promise<readonly string[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-merge-'));
  try {
    const env = await makeBareGitDir(repo, folder, ours.length === 64 ? 'sha256' : 'sha1');
    const options = ['--write-tree', '-z', '--name-only', '--no-messages'];
    const settings = ['-c', 'core.attributesFile=/dev/null'];
    const args = [...settings, 'merge-tree', ...options, ours, theirs];
    const result = await runGit(args, { cwd: folder, env, input: '' });
    if (result.exit !== 0 && result.exit !== 1) return undefined;
    return result.stdout.split('\0').slice(1, -1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As little as git takes for a repository. What merge-tree stores goes into its own objects, and away with it. */
async function makeBareGitDir(
  repo: GitRepo,
  folder: string,
  format: 'sha1' | 'sha256',
): Promise<Record<string, string>> {
  const objects = join(repo.common_dir, 'objects');
  await mkdir(join(folder, 'objects', 'info'), { recursive: true });
  await mkdir(join(folder, 'refs'));
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(
    join(folder, 'config'),
    `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = ${format}\n`,
  );
  const shallow = join(repo.common_dir, 'shallow');
  if (existsSync(shallow)) copyFileSync(shallow, join(folder, 'shallow'));
  // Nor does a server know how the user likes renames to be found.
  const env = Object.entries(gitEnvironment(repo.env ?? process.env));
  return {
    ...Object.fromEntries(env.filter(([name]) => !name.startsWith('GIT_CONFIG_'))),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_DIR: folder,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: toObjectList(objects),
  };
}

/** The same question by the text merge of each path alone; exported for the test that compares both ways. */
export async function predictByFile(
  repo: GitRepo,
  commits: { readonly root: string; readonly ours: string; readonly theirs: string },
  paths: readonly string[],
): Promise<MergePrediction> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-merge-'));
  const conflicts: string[] = [];
  try {
    for (const path of paths) {
      const [root, ours, theirs] = [
        await readBlob(repo, commits.root, path),
        await readBlob(repo, commits.ours, path),
        await readBlob(repo, commits.theirs, path),
      ];
      if (isSame(root, ours) || isSame(root, theirs) || isSame(ours, theirs)) continue;
      if (ours === undefined || theirs === undefined) conflicts.push(path);
      else {
        const sides = { ours, root: root ?? Buffer.alloc(0), theirs };
        for (const [name, bytes] of Object.entries(sides)) await writeFile(join(folder, name), bytes);
        const files = Object.keys(sides).map((name) => join(folder, name));
        const result = await askGit(repo, ['merge-file', '--stdout', ...files]);
        // The number of conflicts up to 127; above that merge-file itself failed.
        const isBinary = /binary/i.test(result.stderr);
        if (result.exit > 127 && !isBinary) return toUnknown(toShownStderr(result.stderr));
        if (result.exit > 0) conflicts.push(path);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return toPrediction(conflicts);
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
