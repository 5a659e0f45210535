import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeLine } from '#kernel/text.ts';
import { askGitBytes, getFromGit, type GitRepo } from './ask-git.ts';
import type { Checkout } from './checkout-record.ts';
import type { ControlGit } from './control-directory.ts';
import { readCommitFilters, readIndexFilters } from './filter-attributes.ts';
import { isHeeded, openFilterBench } from './filter-bench.ts';
import { listDeclared } from './judge-changes.ts';
import { listPlainSecrets } from './plain-secrets.ts';
import { toGitFailure } from './run-git.ts';
import { toShownPath } from './shown-path.ts';

export interface CommitVerdict {
  /** Why the commits must not come among the user's objects, with the commit and the path; undefined where they may. */
  readonly why: string | undefined;
  /** Commits of the user's that they stand on: a target that was merged in. */
  readonly onto: readonly string[];
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
  if (own.length === 0) return { why: undefined, onto: [] };
  const onto = [...new Set(own.flatMap((oid) => parents.get(oid) ?? []))].filter((oid) => !missing.has(oid));
  const entries = await listEntries(source, own);
  const why =
    findGitlink(checkout, entries) ?? (await findUnfiltered(control, checkout, { source, entries, own }));
  return { why, onto };
}

interface CommitEntry {
  readonly commit: string;
  /** As `latin1`. */
  readonly path: string;
  readonly before: string;
  readonly mode: string;
  readonly oid: string;
}

/** Those that the user's repository does not have. */
async function listMissing(control: ControlGit, oids: readonly string[]): Promise<ReadonlySet<string>> {
  if (oids.length === 0) return new Set();
  const input = `${[...new Set(oids)].join('\n')}\n`;
  const text = await getFromGit(control, ['cat-file', '--batch-check=%(objectname)'], { input });
  return new Set([...text.matchAll(/^([0-9a-f]+) missing$/gm)].map(([, oid = '']) => oid));
}

/** What each commit changes against each of its parents. */
async function listEntries(source: GitRepo, commits: readonly string[]): Promise<readonly CommitEntry[]> {
  const args = ['diff-tree', '--stdin', '-r', '-m', '--root', '-z', '--raw', '--no-renames', '--no-abbrev'];
  const { stdout, stderr, exit } = await askGitBytes(source, args, { input: `${commits.join('\n')}\n` });
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const fields = stdout.toString('latin1').split('\0');
  const entries: CommitEntry[] = [];
  let commit = '';
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? '';
    if (!field.startsWith(':')) {
      commit = field.slice(0, commits[0]?.length);
      continue;
    }
    at += 1;
    const [before = '', mode = '', , oid = ''] = field.slice(1).split(' ');
    entries.push({ commit, path: fields[at] ?? '', before, mode, oid });
  }
  return entries;
}

function findGitlink(checkout: Checkout, entries: readonly CommitEntry[]): string | undefined {
  const declared = listDeclared(checkout);
  const link = entries.find(
    ({ mode, before, path }) => mode === '160000' && before !== '160000' && !declared.has(toShownPath(path)),
  );
  if (link === undefined) return undefined;
  return `${link.commit.slice(0, 12)} holds a repository at ${escapeLine(toShownPath(link.path))} that .gitmodules does not name`;
}

interface Judged {
  readonly source: GitRepo;
  readonly entries: readonly CommitEntry[];
  readonly own: readonly string[];
}

async function findUnfiltered(
  control: ControlGit,
  checkout: Checkout,
  { source, entries, own }: Judged,
): Promise<string | undefined> {
  const files = entries.filter(({ mode }) => mode.startsWith('100'));
  const paths = [...new Set(files.map(({ path }) => path))];
  const base = await readCommitFilters(control, checkout.base, paths);
  const ofCommit = await readOwnFilters(source, files, own);
  const found = new Map<string, CommitEntry & { readonly name: string }>();
  for (const entry of files)
    for (const name of [base.get(entry.path), ofCommit.get(entry.commit)?.get(entry.path)])
      if (name !== undefined && isHeeded(control, name))
        found.set(`${name}\0${entry.path}\0${entry.oid}`, { ...entry, name });
  const copy = await findCopy(control, checkout, files);
  if (copy !== undefined || found.size === 0) return copy;
  await using bench = await openFilterBench(control, [join(source.git_dir, 'objects')]);
  for (const { commit, path, oid, name } of found.values()) {
    if (await bench.approves(name, toShownPath(path), oid)) continue;
    return `${commit.slice(0, 12)} holds ${escapeLine(toShownPath(path))} without its filter ${escapeLine(name)}`;
  }
  return undefined;
}

async function findCopy(
  control: ControlGit,
  checkout: Checkout,
  files: readonly CommitEntry[],
): Promise<string | undefined> {
  const secrets = await listPlainSecrets(control, checkout.base);
  const copy = secrets.size === 0 ? undefined : files.find(({ oid }) => secrets.has(oid));
  const secret = copy && secrets.get(copy.oid);
  if (copy === undefined || secret === undefined) return undefined;
  const names = [toShownPath(copy.path), secret.path].map(escapeLine);
  return `${copy.commit.slice(0, 12)} holds in ${names[0]} the plain text of ${names[1]}`;
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
