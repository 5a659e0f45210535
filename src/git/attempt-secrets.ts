import { readdirSync, readFileSync } from 'node:fs';
import { askGitBytes, getFromGit } from './ask-git.ts';
import type { Checkout } from './checkout-record.ts';
import { listEntries } from './commit-entries.ts';
import type { ControlGit } from './control-directory.ts';
import { lookInside, toDiskPath } from './disk-path.ts';
import { type PathFilters, readCommitFilters, readTreeFilters } from './filter-attributes.ts';
import { look } from './guard-place.ts';
import {
  findSecret,
  keepsSecrets,
  type PlainSecret,
  readSecretBlobs,
  type SecretBlob,
  toBlobId,
  toPlainSecret,
} from './plain-secrets.ts';
import { toGitFailure } from './run-git.ts';

/** What no file may hold that is stored without a filter. */
export interface AttemptSecrets {
  /** The secret that the content is or has the whole of, unless the base has it at that path in plain text already. */
  find(path: string, content: Buffer): Promise<PlainSecret | undefined>;
  readonly all: readonly PlainSecret[];
  /** The files of all commits between base and head, as `latin1`. */
  readonly committed: readonly string[];
}

export interface SecretPlaces {
  /** The attempt's last commit that is among the user's objects. */
  readonly head: string;
  /** Files of the working tree that differ from it, and folders that are repositories by themselves, as `latin1`. */
  readonly changed: readonly string[];
  readonly nested: readonly string[];
  /** Files of commits that are not among the user's objects yet, and the folders of their objects. */
  readonly blobs?: readonly SecretBlob[];
  readonly objects?: readonly string[];
  /** Of commits that were looked at before, and may not be among the user's objects. */
  readonly found?: readonly PlainSecret[];
}

/**
 * The plain text of every file that a filter keeps secret: in the base, in each commit of the attempt, and in its
 * working tree, since an attempt may write a secret and its copy at the same time. Costs nothing where the user has no
 * such filter.
 */
export async function listAttemptSecrets(
  control: ControlGit,
  checkout: Checkout,
  { head, changed, nested, blobs = [], objects = [], found = [] }: SecretPlaces,
): Promise<AttemptSecrets> {
  if (!control.filters.some(({ name }) => keepsSecrets(control, name)))
    return { find: async () => undefined, all: [], committed: [] };
  const files = await listFiles(control, checkout.base);
  const filters = await readCommitFilters(control, checkout.base, [...files.keys()]);
  const known = toSecretBlobs(control, files, filters);
  const hidden = new Set(known.map(({ path }) => path));
  const open = new Set([...files].flatMap(([path, oid]) => (hidden.has(path) ? [] : [oid])));
  const isPublic = (oid: string): boolean => open.has(oid);
  const { paths: committed, blobs: own } = await listCommitted(control, checkout, head);
  const stored = [...known, ...own, ...blobs];
  const secrets = [
    ...found,
    ...(await readSecretBlobs(control, stored, { objects, isPublic })),
    ...(await readTreeSecrets(control, checkout, {
      paths: [...changed, ...walk(checkout.path, nested)],
      isPublic,
    })),
  ];
  return {
    all: secrets,
    committed,
    find: async (path, content) => {
      const secret = findSecret(secrets, content);
      const before = files.get(path);
      if (secret === undefined || before === undefined || hidden.has(path)) return secret;
      const old = await readBytes(control, ['cat-file', 'blob', before]);
      return findSecret([secret], old) === undefined ? secret : undefined;
    },
  };
}

function toSecretBlobs(
  control: ControlGit,
  files: ReadonlyMap<string, string>,
  filters: PathFilters,
): readonly SecretBlob[] {
  const secret = [...filters].filter(([, filter]) => keepsSecrets(control, filter));
  return secret.map(([path, filter]) => ({ path, filter, oid: files.get(path) ?? '' }));
}

/** Names as `latin1`, and the id of what each holds. */
async function listFiles(control: ControlGit, commit: string): Promise<ReadonlyMap<string, string>> {
  const bytes = await readBytes(control, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  const lines = bytes.toString('latin1').matchAll(/(?:^|\0)100\d+ blob ([0-9a-f]+)\t([^\0]+)/g);
  return new Map([...lines].map(([, oid = '', path = '']) => [path, oid]));
}

/** For one piece of work that may not need them at all, and needs them once. */
export function askOnce<T>(list: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => (found ??= list());
}

/** Of every commit between base and head, by the attributes of both. */
async function listCommitted(
  control: ControlGit,
  { base }: Checkout,
  head: string,
): Promise<{ readonly paths: readonly string[]; readonly blobs: readonly SecretBlob[] }> {
  if (head === base) return { paths: [], blobs: [] };
  const commits = (await getFromGit(control, ['rev-list', head, '--not', base])).split('\n');
  const all = await listEntries(
    control,
    commits.filter((oid) => oid !== ''),
  );
  const entries = all.filter(({ mode }) => mode.startsWith('100'));
  const paths = [...new Set(entries.map(({ path }) => path))];
  const both = await Promise.all([base, head].map((commit) => readCommitFilters(control, commit, paths)));
  const blobs = entries.flatMap(({ path, oid }) =>
    both.flatMap((filters) => {
      const filter = filters.get(path);
      return filter !== undefined && keepsSecrets(control, filter) ? [{ path, filter, oid }] : [];
    }),
  );
  return { paths, blobs };
}

/** By the attributes that stand there now and by those of the base. */
async function readTreeSecrets(
  control: ControlGit,
  checkout: Checkout,
  { paths, isPublic }: { readonly paths: readonly string[]; readonly isPublic: (oid: string) => boolean },
): Promise<readonly PlainSecret[]> {
  const files = paths.filter((path) => lookInside(checkout.path, path)?.isFile() === true);
  const now = await readTreeFilters(control, checkout.path, files);
  const before = await readCommitFilters(control, checkout.base, files);
  return [...new Set([...now.keys(), ...before.keys()])].flatMap((path) => {
    const filter = [now.get(path), before.get(path)].find(
      (name) => name !== undefined && keepsSecrets(control, name),
    );
    if (filter === undefined) return [];
    const content = readFileSync(toDiskPath(checkout.path, path));
    return isPublic(toBlobId(control, content)) ? [] : (toPlainSecret(path, filter, content) ?? []);
  });
}

/** The files in these folders, without what git keeps in them; links are not followed. */
function walk(top: string, folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => {
    const place = toDiskPath(top, folder);
    if (look(place)?.isDirectory() !== true) return [];
    const names = readdirSync(place, { encoding: 'latin1' }).filter((name) => name !== '.git');
    const paths = names.map((name) => `${folder}/${name}`);
    const isFolder = (path: string): boolean => look(toDiskPath(top, path))?.isDirectory() === true;
    return [...paths.filter((path) => !isFolder(path)), ...walk(top, paths.filter(isFolder))];
  });
}

async function readBytes(control: ControlGit, args: readonly string[]): Promise<Buffer> {
  const { stdout, stderr, exit } = await askGitBytes(control, args);
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  return stdout;
}
