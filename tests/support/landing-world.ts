import {
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type GitPlace, gitPlace } from './git-places.ts';
import { runTestGit } from './temp-repo.ts';

/** A repository with a commit that changes files in every way that git knows, for a landing on main. */
export interface LandingWorld extends GitPlace {
  readonly old: string;
  readonly commit: string;
}

export async function landingWorld(
  options: {
    readonly shape?: 'sha1' | 'sha256' | 'linked worktree';
    /** Files more that are changed. */
    readonly files?: number;
    readonly prepare?: (place: GitPlace) => void;
  } = {},
): Promise<LandingWorld> {
  const place = await gitPlace(options.shape ?? 'sha1');
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(place.path, file)), { recursive: true });
    writeFileSync(join(place.path, file), text);
  };
  options.prepare?.(place);
  for (const file of [
    'mine.txt',
    'edited.txt',
    'gone.txt',
    'last/of/it.txt',
    'tool.sh',
    'file',
    'folder/a',
    'folder/b',
  ])
    put(file, `${file}\n`);
  put('windows.txt', 'one\ntwo\n');
  put('.gitattributes', 'windows.txt text eol=crlf\n');
  symlinkSync('a.txt', join(place.path, 'link'));
  for (let at = 0; at < (options.files ?? 0); at += 1) put(`many/${at}`, `old ${at}\n`);
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'second');
  const old = place.git('rev-parse', 'HEAD');
  place.git('checkout', '--quiet', '--detach');
  put('a.txt', 'landed\n');
  put('deep/er/new.txt', 'new\n');
  put('windows.txt', 'one\nlanded\n');
  chmodSync(join(place.path, 'tool.sh'), 0o755);
  for (const path of ['gone.txt', 'last', 'file', 'folder', 'link'])
    rmSync(join(place.path, path), { recursive: true });
  put('file/now/a/folder', 'x\n');
  put('folder', 'now a file\n');
  symlinkSync('tool.sh', join(place.path, 'link'));
  for (let at = 0; at < (options.files ?? 0); at += 1) put(`many/${at}`, `landed ${at}\n`);
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'landed');
  const commit = place.git('rev-parse', 'HEAD');
  place.git('checkout', '--quiet', 'main');
  return { ...place, old, commit };
}

/** Something staged, something edited and something new, at paths that the landing does not touch. */
export function workBeside({ path, ...place }: GitPlace): void {
  writeFileSync(join(path, 'mine.txt'), 'staged\n');
  place.git('add', 'mine.txt');
  writeFileSync(join(path, 'edited.txt'), 'edited\n');
  writeFileSync(join(path, 'untracked.txt'), 'untracked\n');
}

export const BESIDE = ' M edited.txt\nM  mine.txt\n?? untracked.txt';

/** All files outside of `.git` with their kind and contents: what "byte-equal" means. */
export function readTree(path: string): Readonly<Record<string, string>> {
  const files = globSync('**', { cwd: path, exclude: (name) => name === '.git' }).sort();
  return Object.fromEntries(
    files.flatMap((file) => {
      const stats = lstatSync(join(path, file));
      if (stats.isDirectory()) return [[`${file}/`, '']];
      if (stats.isSymbolicLink()) return [[file, `-> ${readlinkSync(join(path, file))}`]];
      return [[file, `${(stats.mode & 0o100) === 0 ? '' : 'x '}${readFileSync(join(path, file), 'utf8')}`]];
    }),
  );
}

/** What a landing may leave of itself: nothing. */
export function listLeft({ repo }: GitPlace): readonly string[] {
  return [
    join(repo.git_dir, 'index.lock'),
    join(repo.git_dir, 'HEAD.lock'),
    join(repo.common_dir, 'refs/heads/main.lock'),
    join(repo.common_dir, 'forge/landing'),
  ].filter((path) => existsSync(path));
}

/** The paths of the commit that a user makes next of what is staged. */
export function commitNext(place: GitPlace): readonly string[] {
  place.git('commit', '--quiet', '-m', 'the next one');
  return runTestGit(place.path, ['diff-tree', '-r', '--name-only', '--no-commit-id', 'HEAD']).split('\n');
}

/** A linked worktree with main, on another file system than the repository where the machine has one. */
export async function linkElsewhere(
  world: LandingWorld,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const parent = mkdtempSync('/var/tmp/forge-test-');
  const path = join(parent, 'linked');
  world.git('checkout', '--quiet', '--detach');
  world.git('worktree', 'add', '--quiet', path, 'main');
  return { path, [Symbol.asyncDispose]: async () => rmSync(parent, { recursive: true, force: true }) };
}
