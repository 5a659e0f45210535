import { getFromGit } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';
import { mergeManyCommits } from './merge-commits.ts';
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
  request: ForecastRequest,
): Promise<ReadonlyMap<string, Changes>> {
  const { heads } = request;
  const roots = await findRoots(control, request);
  const trees = await readTrees(control, [...heads.map(({ head }) => head), ...roots]);
  const lines = heads.map((_, at) => `${trees[heads.length + at]} ${trees[at]}\n`);
  const args = ['diff-tree', '--stdin', '-r', '-z', '--name-status', '--no-renames'];
  const found = splitByHead(await getFromGit(control, args, { input: lines.join('') }));
  return new Map(heads.map(({ id }, at) => [id, toChanges(found[at] ?? [])]));
}

/**
 * Where each left the target: the merge bases, by one walk over all that the target does not have. Of histories that
 * have nothing in common everything differs.
 */
async function findRoots(
  control: ControlGit,
  { target, heads }: ForecastRequest,
): Promise<readonly string[]> {
  if (heads.length === 0) return [];
  const input = `${heads.map(({ head }) => head).join('\n')}\n^${target}\n`;
  const text = await getFromGit(control, ['rev-list', '--parents', '--stdin'], { input });
  const lines = text.split('\n').map((line) => line.split(' '));
  const parents = new Map(lines.map(([oid = '', ...of]) => [oid, of]));
  const roots: string[] = [];
  for (const { head } of heads) {
    const [root, ...more] = listLeaves(head, parents);
    // Who has merged the target meanwhile left it more than once; git knows which time was the last.
    roots.push(more.length === 0 ? (root ?? target) : await findRoot(control, target, head));
  }
  return roots;
}

/** The commits that the walk did not come to any more. */
function listLeaves(head: string, parents: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const [seen, leaves] = [new Set([head]), new Set<string>()];
  for (const oid of seen) {
    const of = parents.get(oid);
    if (of === undefined) leaves.add(oid);
    for (const parent of of ?? []) seen.add(parent);
  }
  return [...leaves];
}

async function findRoot(control: ControlGit, target: string, head: string): Promise<string> {
  return (await getFromGit(control, ['merge-base', target, head])).trim();
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
