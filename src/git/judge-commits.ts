import { quoteName } from '#kernel/name-files.ts';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getFromGit, type GitRepo } from './ask-git.ts';
import { type AttemptSecrets, listAttemptSecrets } from './attempt-secrets.ts';
import type { Checkout } from './checkout-record.ts';
import { type CommitEntry, listEntries } from './commit-entries.ts';
import type { ControlGit } from './control-directory.ts';
import { lookInside, toDiskPath } from './disk-path.ts';
import { readCommitFilters, readIndexFilters } from './filter-attributes.ts';
import { isHeeded, openFilterBench } from './filter-bench.ts';
import { listDeclared } from './judge-changes.ts';
import { keepsSecrets, type PlainSecret } from './plain-secrets.ts';
import { openBlobReader } from './read-blob.ts';
import { toShownPath } from './shown-path.ts';
import { listDifferences, openStagingIndex } from './stage-work-tree.ts';

export interface CommitVerdict {
  /** Why the commits must not come among the user's objects, with the commit and the path; undefined where they may. */
  readonly why: string | undefined;
  /** Commits of the user's that they stand on: a target that was merged in. */
  readonly onto: readonly string[];
  /** What their files, and all others of the attempt, hold under a filter that keeps secrets. */
  readonly secrets: readonly PlainSecret[];
}

/**
 * Looks at commits that an agent made itself before they are fetched: one that holds a file without the filter of its
 * path, or a repository that `.gitmodules` does not name, would stay in history for good. `source` has their objects,
 * and a configuration that Forge has written.
 */
export async function judgeCommits(
  control: ControlGit,
  checkout: Checkout,
  work: { readonly source: GitRepo; readonly tips: readonly string[]; readonly known: string },
): Promise<CommitVerdict> {
  const { source, tips, known } = work;
  const range = ['rev-list', '--parents', '--ignore-missing', ...tips, '--not', known, checkout.base];
  const lines = (await getFromGit(source, range)).split('\n').filter((line) => line !== '');
  const parents = new Map(lines.map((line) => [line.slice(0, known.length), line.split(' ').slice(1)]));
  const all = [...parents.keys()];
  const missing = await listMissing(control, [...all, ...[...parents.values()].flat()]);
  const own = all.filter((oid) => missing.has(oid));
  if (own.length === 0) return { why: undefined, onto: [], secrets: [] };
  const onto = [...new Set(own.flatMap((oid) => parents.get(oid) ?? []))].filter((oid) => !missing.has(oid));
  const entries = await listEntries(source, own);
  const judged = { source, known, ...(await findFiltered(control, checkout, { source, entries, own })) };
  const secrets = await listSecrets(control, checkout, judged);
  const why =
    findGitlink(checkout, entries) ??
    (await findCopy(control, checkout, { judged, secrets })) ??
    (await findUnfiltered(control, judged));
  return { why, onto, secrets: secrets?.all ?? [] };
}

/** Those that the user's repository does not have. */
async function listMissing(control: ControlGit, oids: readonly string[]): Promise<ReadonlySet<string>> {
  if (oids.length === 0) return new Set();
  const input = `${[...new Set(oids)].join('\n')}\n`;
  const text = await getFromGit(control, ['cat-file', '--batch-check=%(objectname)'], { input });
  return new Set([...text.matchAll(/^([0-9a-f]+) missing$/gm)].map(([, oid = '']) => oid));
}

function findGitlink(checkout: Checkout, entries: readonly CommitEntry[]): string | undefined {
  const declared = listDeclared(checkout);
  const link = entries.find(
    ({ mode, before, path }) => mode === '160000' && before !== '160000' && !declared.has(toShownPath(path)),
  );
  if (link === undefined) return undefined;
  return `${link.commit.slice(0, 12)} holds a repository at ${quoteName(toShownPath(link.path))} that .gitmodules does not name`;
}

interface Judged {
  readonly source: GitRepo;
  readonly known: string;
  readonly files: readonly CommitEntry[];
  /** Those of the files that are under a filter. */
  readonly filtered: readonly (CommitEntry & { readonly name: string })[];
}

async function findFiltered(
  control: ControlGit,
  checkout: Checkout,
  work: {
    readonly source: GitRepo;
    readonly entries: readonly CommitEntry[];
    readonly own: readonly string[];
  },
): Promise<Pick<Judged, 'files' | 'filtered'>> {
  const files = work.entries.filter(({ mode }) => mode.startsWith('100'));
  const paths = [...new Set(files.map(({ path }) => path))];
  const base = await readCommitFilters(control, checkout.base, paths);
  const ofCommit = await readOwnFilters(work.source, files, work.own);
  const found = new Map<string, Judged['filtered'][number]>();
  for (const entry of files)
    for (const name of [base.get(entry.path), ofCommit.get(entry.commit)?.get(entry.path)])
      if (name !== undefined && isHeeded(control, name))
        found.set(`${name}\0${entry.path}\0${entry.oid}`, { ...entry, name });
  return { files, filtered: [...found.values()] };
}

async function findUnfiltered(
  control: ControlGit,
  { source, filtered }: Judged,
): Promise<string | undefined> {
  if (filtered.length === 0) return undefined;
  await using bench = await openFilterBench(control, [join(source.git_dir, 'objects')]);
  for (const { commit, path, oid, name } of filtered) {
    if (await bench.approves(name, toShownPath(path), oid)) continue;
    return `${commit.slice(0, 12)} holds ${quoteName(toShownPath(path))} without its filter ${quoteName(name)}`;
  }
  return undefined;
}

async function listSecrets(
  control: ControlGit,
  checkout: Checkout,
  { source, known, filtered }: Judged,
): Promise<AttemptSecrets | undefined> {
  if (!control.filters.some(({ name }) => keepsSecrets(control, name))) return undefined;
  const hidden = filtered.filter(({ name }) => keepsSecrets(control, name));
  return listAttemptSecrets(control, checkout, {
    head: known,
    ...(await listChanged(control, checkout, known)),
    blobs: hidden.map(({ path, name: filter, oid }) => ({ path, filter, oid })),
    objects: [join(source.git_dir, 'objects')],
  });
}

async function findCopy(
  control: ControlGit,
  checkout: Checkout,
  { judged, secrets }: { readonly judged: Judged; readonly secrets: AttemptSecrets | undefined },
): Promise<string | undefined> {
  if (secrets === undefined || secrets.all.length === 0) return undefined;
  const hidden = judged.filtered.filter(({ name }) => keepsSecrets(control, name));
  const names = new Set(hidden.map(({ path, oid }) => `${path}\0${oid}`));
  await using reader = openBlobReader(judged.source);
  for (const { commit, path, oid } of judged.files) {
    if (names.has(`${path}\0${oid}`)) continue;
    // What a filter of another kind has made of a copy, such as a pointer of LFS, does not show it; the file does.
    for (const content of [await reader.readObject(oid), readFile(checkout, path)]) {
      const secret = content && (await secrets.find(path, content));
      if (secret === undefined) continue;
      const shown = [toShownPath(path), secret.path].map(quoteName);
      return `${commit.slice(0, 12)} holds in ${shown[0]} the plain text of ${shown[1]}`;
    }
  }
  return undefined;
}

function readFile(checkout: Checkout, path: string): Buffer | undefined {
  const isFile = lookInside(checkout.path, path)?.isFile() === true;
  return isFile ? readFileSync(toDiskPath(checkout.path, path)) : undefined;
}

/** What the attempt has not committed: a secret may lie there whose copy it has. */
async function listChanged(
  control: ControlGit,
  checkout: Checkout,
  known: string,
): Promise<{ readonly changed: readonly string[]; readonly nested: readonly string[] }> {
  using staging = await openStagingIndex(control, checkout, known);
  const { tracked, untracked, nested } = await listDifferences(control, { checkout, index: staging.path });
  return { changed: [...tracked, ...untracked], nested };
}

/** Of each commit by its own attributes; only where one of the commits has changed any. */
async function readOwnFilters(
  source: GitRepo,
  files: readonly CommitEntry[],
  own: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  if (!files.some(({ path }) => /(?:^|\/)\.gitattributes$/.test(path))) return found;
  const folder = await mkdtemp(join(tmpdir(), 'forge-index-'));
  try {
    const index = join(folder, 'index');
    for (const commit of own) {
      const paths = files.filter((file) => file.commit === commit).map(({ path }) => path);
      await getFromGit(source, ['read-tree', commit], { more_env: { GIT_INDEX_FILE: index } });
      found.set(commit, await readIndexFilters(source, index, paths));
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
