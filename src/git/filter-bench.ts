import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askGit, askGitBytes, getFromGit, type GitRepo } from './ask-git.ts';
import { toAlternate } from './attempt-git-folder.ts';
import { toConfigText, toFormatEntries } from './control-config.ts';
import type { ControlGit } from './control-directory.ts';
import { toGitFailure } from './run-git.ts';
import { isSecretFilter } from './user-filters.ts';

/** Runs one filter of the user's on contents, apart from every attribute and every other conversion. */
export interface FilterBench extends AsyncDisposable {
  /**
   * Whether the blob is what the filter gives for a file. One that gives the same for the same file must give this blob
   * back; one that gives something else each time must at least make something else of it for the working tree.
   */
  approves(filter: string, path: string, oid: string): Promise<boolean>;
  /** The files that the filter makes of the blobs, in their order; undefined where it cannot. */
  readAll(
    filter: string,
    blobs: readonly { readonly path: string; readonly oid: string }[],
  ): Promise<readonly (Buffer | undefined)[]>;
  /** Stores the content as the filter gives it, among the user's objects. */
  store(filter: string, path: string, content: Uint8Array): Promise<string>;
}

/** `objects` are the folders that the blobs to look at lie in, besides the user's. */
export async function openFilterBench(
  control: ControlGit,
  objects: readonly string[] = [],
): Promise<FilterBench> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-filter-'));
  const repo: GitRepo = {
    ...control,
    worktree: folder,
    git_dir: folder,
    common_dir: folder,
    git_env: { GIT_DIR: folder },
  };
  await makeRepository(control, folder, objects);
  const use = (filter: string): Promise<void> =>
    writeFile(join(folder, 'info', 'attributes'), `* filter=${filter} -text -ident -working-tree-encoding\n`);
  const clean = async (path: string, input: Uint8Array): Promise<string> =>
    getFromGit(repo, ['hash-object', '--stdin', `--path=${path}`], { input });
  return {
    approves: async (filter, path, oid) => {
      if (!isRunnable(control, filter))
        return looksEncrypted(await readBlob(repo, ['cat-file', 'blob', oid]));
      await use(filter);
      const blob = await readBlob(repo, ['cat-file', 'blob', oid]);
      // Not every filter takes what it has given once more; that is no answer then.
      const again = await askGit(repo, ['hash-object', '--stdin', `--path=${path}`], { input: blob });
      if (again.exit === 0 && again.stdout.trim() === oid) return true;
      const smudged = await smudge(repo, path, oid);
      if (smudged === undefined) return false;
      const cleaned = await clean(path, smudged);
      if (cleaned === oid) return true;
      return (await clean(path, smudged)) !== cleaned && !smudged.equals(blob);
    },
    readAll: async (filter, blobs) => {
      await use(filter);
      const all = await smudgeAll({ ...repo, timeout_ms: control.checkout_timeout_ms }, blobs);
      if (all !== undefined) return all;
      const found: (Buffer | undefined)[] = [];
      for (const { path, oid } of blobs) found.push(await smudge(repo, path, oid));
      return found;
    },
    store: async (filter, path, input) => {
      await use(filter);
      const args = ['hash-object', '-w', '--stdin', `--path=${path}`];
      return getFromGit(repo, args, { input, more_env: { GIT_OBJECT_DIRECTORY: control.objects } });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function makeRepository(
  control: ControlGit,
  folder: string,
  objects: readonly string[],
): Promise<void> {
  await mkdir(join(folder, 'objects', 'info'), { recursive: true });
  await mkdir(join(folder, 'refs'), { recursive: true });
  await mkdir(join(folder, 'info'), { recursive: true });
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  const kept = control.inherited.filter(
    ({ key }) => key === 'extensions.objectformat' || key.startsWith('filter.'),
  );
  const format = kept.filter(({ key }) => key.startsWith('extensions.'));
  await writeFile(join(folder, 'config'), toConfigText([...toFormatEntries(format, true), ...kept]), {
    mode: 0o600,
  });
  const alternates = [...objects, control.objects].map((path) => `${toAlternate(path)}\n`);
  await writeFile(join(folder, 'objects', 'info', 'alternates'), alternates.join(''));
}

function isRunnable(control: ControlGit, filter: string): boolean {
  return control.filters.some(({ name }) => name === filter);
}

/** What a filter cannot make a file of was not made by it. */
async function smudge(repo: GitRepo, path: string, oid: string): Promise<Buffer | undefined> {
  const { stdout, exit } = await askGitBytes(repo, ['cat-file', '--filters', `--path=${path}`, oid]);
  return exit === 0 ? stdout : undefined;
}

/**
 * All by one git, which takes a third of the time. Undefined where one of them cannot be had, and it does not say which,
 * or where a path would be two lines. The answers are told apart by a line that nobody can know: the size that git
 * writes before each is the one from before the filter.
 */
async function smudgeAll(
  repo: GitRepo,
  blobs: readonly { readonly path: string; readonly oid: string }[],
): Promise<readonly Buffer[] | undefined> {
  if (blobs.some(({ path }) => path.includes('\n'))) return undefined;
  const mark = randomBytes(16).toString('hex');
  const input = blobs.map(({ path, oid }) => `${oid} ${path}\n`).join('');
  const args = ['cat-file', '--filters', `--batch=${mark}`];
  const { stdout, exit } = await askGitBytes(repo, args, { input });
  if (exit !== 0) return undefined;
  const found: Buffer[] = [];
  for (let at = stdout.indexOf(`${mark}\n`); at !== -1;) {
    const from = at + mark.length + 1;
    const next = stdout.indexOf(`${mark}\n`, from);
    found.push(stdout.subarray(from, (next === -1 ? stdout.length : next) - 1));
    at = next;
  }
  return found.length === blobs.length ? found : undefined;
}

async function readBlob(repo: GitRepo, args: readonly string[]): Promise<Buffer> {
  const { stdout, stderr, exit } = await askGitBytes(repo, args);
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  return stdout;
}

/** Without the program nothing can be said but this: git-crypt marks what it has encrypted. */
function looksEncrypted(blob: Buffer): boolean {
  return blob.length === 0 || blob.subarray(0, MARK.length).equals(MARK);
}

const MARK = Buffer.from('\0GITCRYPT\0', 'latin1');

/** Whether a path under this filter needs a look: the user configures the filter, or it is one that keeps secrets. */
export function isHeeded(control: ControlGit, filter: string): boolean {
  return isRunnable(control, filter) || isSecretFilter(filter);
}

/** Whether the clone has such a filter at all, LFS among them. */
export async function isConfigured(control: ControlGit, filter: string): Promise<boolean> {
  if (isRunnable(control, filter)) return true;
  const keys = ['clean', 'process'].map((part) => `filter.${filter}.${part}`);
  for (const key of keys) if ((await askGit(control, ['config', '--get', key])).exit === 0) return true;
  return false;
}
