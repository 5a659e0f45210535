import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { GitRepo } from '#git/ask-git.ts';
import { findRepository } from '#git/find-repository.ts';
import { runTestGit, type TempFolder, tempFolder, testGitEnv } from './temp-repo.ts';

/** The shapes in which a repository comes to us. */
export const GIT_PLACES = ['sha1', 'sha256', 'detached', 'linked worktree', 'submodule'] as const;

export interface GitPlace extends TempFolder {
  readonly repo: GitRepo;
  git(...args: string[]): string;
}

/** A repository of that shape on branch main with one commit, in which `a.txt` holds "a". */
export async function gitPlace(
  shape: (typeof GIT_PLACES)[number] | 'without commits' = 'sha1',
): Promise<GitPlace> {
  const folder = await tempFolder({ folder: 'it is' });
  if (shape === 'linked worktree') return openLinked(folder);
  if (shape === 'submodule') return openSubmodule(folder);
  copyTemplate(await getTemplate(shape, () => makeRepository(shape)), folder.path);
  return toPlace(folder, folder.path);
}

/** A bare repository and clones of it, which have its branch main. */
export async function gitClones(count: number): Promise<{
  readonly remote: string;
  readonly clones: readonly GitPlace[];
  [Symbol.asyncDispose](): PromiseLike<void>;
}> {
  const template = await getTemplate(`${count} clones`, () => makeClones(count));
  const folder = await tempFolder();
  copyTemplate(template, folder.path);
  const clones = Array.from({ length: count }, (_, at) => {
    const path = join(folder.path, `clone-${at}`);
    const config = join(path, '.git', 'config');
    writeFileSync(config, readFileSync(config, 'utf8').replaceAll(template, folder.path));
    return toPlace(folder, path);
  });
  return {
    remote: join(folder.path, 'remote.git'),
    clones,
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

/** Made once a file: a copy takes a fraction of the processes' time. */
const templates = new Map<string, Promise<string>>();

function getTemplate(name: string, make: () => Promise<TempFolder>): Promise<string> {
  const known = templates.get(name);
  if (known !== undefined) return known;
  const made = make().then(({ path }) => {
    process.once('exit', () => rmSync(dirname(path), { recursive: true, force: true }));
    return path;
  });
  templates.set(name, made);
  return made;
}

function copyTemplate(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  // Git knows the files by their times and numbers, which are new.
  for (const path of [to, ...readdirSync(to).map((name) => join(to, name))])
    if (existsSync(join(path, '.git', 'index'))) runTestGit(path, ['update-index', '-q', '--refresh']);
}

async function makeRepository(
  shape: 'sha1' | 'sha256' | 'detached' | 'without commits',
): Promise<TempFolder> {
  const folder = await tempFolder({ folder: 'it is' });
  initRepository(folder.path, shape === 'sha256' ? 'sha256' : 'sha1');
  const place = toPlace(folder, folder.path);
  if (shape !== 'without commits') await commitFirst(place);
  if (shape === 'detached') place.git('checkout', '--quiet', '--detach');
  return folder;
}

async function makeClones(count: number): Promise<TempFolder> {
  const folder = await tempFolder();
  const remote = join(folder.path, 'remote.git');
  runTestGit(folder.path, ['init', '--quiet', '--bare', '-b', 'main', remote]);
  const first = join(folder.path, 'first');
  initRepository(first, 'sha1');
  const place = toPlace(folder, first);
  await commitFirst(place);
  place.git('push', '--quiet', remote, 'main');
  for (let at = 0; at < count; at += 1) {
    const path = join(folder.path, `clone-${at}`);
    runTestGit(folder.path, ['clone', '--quiet', remote, path]);
    setIdentity(path);
  }
  return folder;
}

export function initRepository(path: string, format: 'sha1' | 'sha256'): void {
  runTestGit('/', ['init', '--quiet', '-b', 'main', `--object-format=${format}`, path]);
  setIdentity(path);
}

function setIdentity(path: string): void {
  const lines = '[user]\n\tname = Test User\n\temail = test@example.com\n';
  appendFileSync(runTestGit(path, ['rev-parse', '--path-format=absolute', '--git-path', 'config']), lines);
}

async function commitFirst(place: GitPlace): Promise<void> {
  await place.write('a.txt', 'a\n');
  place.git('add', 'a.txt');
  place.git('commit', '--quiet', '-m', 'first');
}

async function openLinked(folder: TempFolder): Promise<GitPlace> {
  initRepository(folder.path, 'sha1');
  const main = toPlace(folder, folder.path);
  await commitFirst(main);
  main.git('checkout', '--quiet', '-b', 'elsewhere');
  const path = join(folder.path, '..', 'linked');
  main.git('worktree', 'add', '--quiet', path, 'main');
  return toPlace(folder, path);
}

async function openSubmodule(folder: TempFolder): Promise<GitPlace> {
  const source = join(folder.path, '..', 'source');
  initRepository(source, 'sha1');
  await commitFirst(toPlace(folder, source));
  initRepository(folder.path, 'sha1');
  const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'part'];
  runTestGit(folder.path, add);
  const path = join(folder.path, 'part');
  setIdentity(path);
  return toPlace(folder, path);
}

function toPlace(folder: TempFolder, path: string): GitPlace {
  const found = findRepository(path);
  // Before it was initialised there is none; every caller has done that.
  if (found === undefined) throw new Error(`no repository in ${path}`);
  const inside = (file: string) =>
    join('..', '..', path.slice(join(folder.path, '..', '..').length + 1), file);
  return {
    path,
    repo: { ...found, env: testGitEnv() },
    git: (...args) => runTestGit(path, args),
    write: (file, text) => folder.write(inside(file), text),
    read: (file) => folder.read(inside(file)),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}
