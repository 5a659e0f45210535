import { askGit, getFromGit } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';
import { mergeManyCommits } from './merge-commits.ts';
import { toGitFailure } from './run-git.ts';
import { withAttributes } from './target-attributes.ts';

export interface ForecastRequest {
  /** Full id of the commit that all are to be merged into. */
  readonly target: string;
  readonly heads: readonly { readonly id: string; readonly head: string }[];
}

export interface Forecast {
  readonly pairs: readonly { readonly a: string; readonly b: string; readonly files: readonly string[] }[];
  readonly target: readonly { readonly id: string; readonly files: readonly string[] }[];
}

/**
 * Which attempts would be in conflict with each other, or with the target. Two that have no path in common cannot
 * be; the rest are merged, in memory and by one git. What only stands between one of a pair and the target, on which
 * the other was started later, is told there alone.
 */
export async function forecastConflicts(control: ControlGit, request: ForecastRequest): Promise<Forecast> {
  const { target, heads } = request;
  const changes = await readChanges(control, request);
  const suspects = heads.flatMap((a, at) =>
    heads.slice(at + 1).flatMap((b) => (mayConflict(changes.get(a.id), changes.get(b.id)) ? [{ a, b }] : [])),
  );
  const merges = [
    ...heads.map(({ head }) => ({ ours: target, theirs: head })),
    ...suspects.map(({ a, b }) => ({ ours: a.head, theirs: b.head })),
  ];
  const files = await withAttributes(control, target, (workTree) =>
    mergeManyCommits(control, merges, workTree),
  );
  const withTarget = new Map(heads.map(({ id }, at) => [id, files[at] ?? []]));
  const pairs = suspects.map(({ a, b }, at) => {
    const apart = [...listApart(a.id, b.id), ...listApart(b.id, a.id)];
    const found = files[heads.length + at] ?? [];
    return { a: a.id, b: b.id, files: found.filter((path) => !apart.includes(path)) };
  });
  /** In conflict between the one and the target; the other has it only from there. */
  function listApart(one: string, other: string): readonly string[] {
    return (withTarget.get(one) ?? []).filter((path) => changes.get(other)?.paths.has(path) !== true);
  }
  return {
    pairs: pairs.filter((pair) => pair.files.length > 0),
    target: [...withTarget]
      .map(([id, found]) => ({ id, files: found }))
      .filter((one) => one.files.length > 0),
  };
}

interface Changes {
  readonly paths: ReadonlySet<string>;
  /** All folders above them: a file at the place of another's folder. */
  readonly folders: ReadonlySet<string>;
  /** Folders that files were taken out of, and put into: a folder that is renamed while another gets a new file. */
  readonly left: ReadonlySet<string>;
  readonly entered: ReadonlySet<string>;
}

function mayConflict(a: Changes | undefined, b: Changes | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return (
    shares(a.paths, b.paths) ||
    shares(a.paths, b.folders) ||
    shares(a.folders, b.paths) ||
    shares(a.left, b.entered) ||
    shares(a.entered, b.left)
  );
}

function shares(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const one of few) if (many.has(one)) return true;
  return false;
}

/** What each has changed since it left the target. */
async function readChanges(
  control: ControlGit,
  { target, heads }: ForecastRequest,
): Promise<ReadonlyMap<string, Changes>> {
  const roots = await mapFew(heads, ({ head }) => findRoot(control, target, head));
  const trees = await readTrees(control, [...heads.map(({ head }) => head), ...roots]);
  const lines = heads.map((_, at) => `${trees[heads.length + at]} ${trees[at]}\n`);
  const args = ['diff-tree', '--stdin', '-r', '-z', '--name-status', '--no-renames'];
  const found = splitByHead(await getFromGit(control, args, { input: lines.join('') }));
  return new Map(heads.map(({ id }, at) => [id, toChanges(found[at] ?? [])]));
}

/** Of histories that have nothing in common everything differs. */
async function findRoot(control: ControlGit, target: string, head: string): Promise<string> {
  const args = ['merge-base', target, head];
  const result = await askGit(control, args);
  if (result.exit > 1) throw toGitFailure(args, result);
  return result.exit === 0 ? result.stdout.trim() : target;
}

async function readTrees(control: ControlGit, commits: readonly string[]): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const input = commits.map((commit) => `${commit}^{tree}\n`).join('');
  return (await getFromGit(control, ['cat-file', '--batch-check=%(objectname)'], { input })).split('\n');
}

/** A line with the two trees comes before what differs between them, which may be nothing. */
function splitByHead(text: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  for (const field of text.split('\0')) {
    const parts = field.split(/^(?:[0-9a-f]{40,64} [0-9a-f]{40,64}\n)/m);
    for (let more = 1; more < parts.length; more += 1) found.push([]);
    const last = parts.at(-1) ?? '';
    if (last !== '') found.at(-1)?.push(last);
  }
  return found;
}

/** Letters and paths by turns. */
function toChanges(fields: readonly string[]): Changes {
  const sets = { paths: new Set<string>(), folders: new Set<string>() };
  const moves = { left: new Set<string>(), entered: new Set<string>() };
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [status, path = ''] = fields.slice(at, at + 2);
    sets.paths.add(path);
    const parents = listFolders(path);
    for (const folder of parents) sets.folders.add(folder);
    const [folder = ''] = parents;
    if (status === 'D') moves.left.add(folder);
    if (status === 'A') moves.entered.add(folder);
  }
  return { ...sets, ...moves };
}

/** The innermost first. */
function listFolders(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/'));
}

const AT_ONCE = 4;

/** Each waits for a process, so a few at a time are faster than one, and all of them are not. */
async function mapFew<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map((item) => work(item)))));
  return results;
}
