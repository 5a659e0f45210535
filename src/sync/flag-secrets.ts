import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { locateSecrets, mayHoldSecrets, type LocatedSecret } from '#domain/locate-secrets.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { readBlob } from '#git/read-blob.ts';
import { type GitOptions, runGit, runGitBytes, toGitFailure } from '#git/run-git.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { countNoun, escapeLine } from '#kernel/text.ts';
import { statFile } from './file-changes.ts';
import { findForgeHome } from './forge-home.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH } from './task-files.ts';
import { WORKFLOW_PATH } from './workflow-file.ts';

/** What would enter a commit and looks like a key. */
export interface FlaggedSecret extends Omit<LocatedSecret, 'value'> {
  readonly path: string;
  /** By which a person allows it. */
  readonly allow: string;
}

interface SecretPlace {
  readonly paths: Pick<ProjectPaths, 'root' | 'common_dir'>;
  readonly machine: Pick<Machine, 'env' | 'homeDir'>;
  /** Commits whose lines are in the history already. */
  readonly revs: readonly (string | undefined)[];
}

export const COMMITTED_PATHS = [TASKS_PATH, HISTORY_PATH, CONFIG_PATH, WORKFLOW_PATH];
/** More of them are one sentence. */
const SHOWN = 5;

/**
 * Of what is staged all that would put a key into the history, where it can hardly be taken out again, unless a person has
 * allowed it. Only of lines that neither the last commit has nor one of those that are merged.
 */
export async function flagStagedSecrets(
  repo: GitRepo,
  { paths, machine, revs, changes }: SecretPlace & { readonly changes?: readonly StagedChange[] | undefined },
): Promise<FlaggedSecret[]> {
  const isClean = ({ added }: StagedChange): boolean =>
    added !== undefined && !mayHoldSecrets(added.join('\n'));
  const open = changes?.filter((change) => !isClean(change)).map(({ path }) => path) ?? COMMITTED_PATHS;
  if (open.length === 0) return [];
  const options = { cwd: paths.root, env: machine.env };
  const added = await listAdded(open, options);
  // Then all that is staged counts as added, but for what the last commit has.
  if (added === undefined)
    return flagSecretsFor(repo, await readIndexed(open, options), {
      paths,
      machine,
      revs: ['HEAD', ...revs],
    });
  if (!mayHoldSecrets(added.map(({ line }) => line).join('\n'))) return [];
  const known = new Set<string>();
  for (const path of COMMITTED_PATHS) for (const line of await readLines(repo, path, revs)) known.add(line);
  const flagged = added.flatMap(({ path, line }) =>
    known.has(line) ? [] : locateSecrets(line).map((one) => ({ ...one, path })),
  );
  return withoutAllowed(flagged, { paths, machine });
}

interface AddedLine {
  readonly path: string;
  readonly line: string;
}

/** The lines that the index has and the last commit has not, also where attributes hide them; undefined where git cannot tell. */
async function listAdded(files: readonly string[], options: GitOptions): Promise<AddedLine[] | undefined> {
  const plain = ['--text', '--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/', '--no-relative'];
  const { exit, stdout } = await runGit(['diff', '--cached', ...plain, ...prefixes, '--', ...files], options);
  if (exit !== 0) return undefined;
  const added: AddedLine[] = [];
  let path = '';
  // A line of a file may look like the head of another.
  let isHead = true;
  for (const line of stdout.split('\n')) {
    if (line.startsWith('diff --git ')) isHead = true;
    else if (line.startsWith('@@ ')) isHead = false;
    else if (isHead && line.startsWith('+++ b/')) path = line.slice('+++ b/'.length);
    else if (!isHead && line[0] === '+') added.push({ path, line: line.slice(1) });
  }
  return added;
}

/** As they would be committed. Throws io_failed where git cannot say: what was not looked at does not count as harmless. */
async function readIndexed(
  files: readonly string[],
  options: GitOptions,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const list = ['ls-files', '-z', '--cached', '--', ...files];
  const listed = await runGit(list, options);
  if (listed.exit !== 0) throw toGitFailure(list, listed);
  const staged = new Map<string, Uint8Array>();
  for (const path of listed.stdout.split('\0').filter((one) => one !== '')) {
    const args = ['cat-file', 'blob', `:${path}`];
    const { exit, stdout, stderr } = await runGitBytes(args, options);
    if (exit !== 0) throw toGitFailure(args, { exit, stderr, stdout: '' });
    staged.set(path, stdout);
  }
  return staged;
}

/** A file that is staged. Where it adds no other lines than these, git need not compare the whole files to find them. */
export interface StagedChange {
  readonly path: string;
  readonly added: readonly string[] | undefined;
}

/** The same of files for a branch that is never checked out; only of lines that none of the commits has. */
export async function flagSecretsFor(
  repo: GitRepo,
  files: ReadonlyMap<string, Uint8Array>,
  { revs, ...place }: SecretPlace,
): Promise<FlaggedSecret[]> {
  const flagged: (LocatedSecret & { readonly path: string })[] = [];
  for (const path of COMMITTED_PATHS) {
    const text = Buffer.from(files.get(path) ?? []).toString('utf8');
    // Nearly always nothing, and then no commit is read. In a large file only new lines are looked at: what is hidden
    // takes its time to find.
    if (text.length <= LIMITS.large_file_bytes && !mayHoldSecrets(text)) continue;
    const known = await readLines(repo, path, revs);
    const lines = text.split('\n').filter((line) => !known.has(line));
    for (const line of lines) for (const one of locateSecrets(line)) flagged.push({ ...one, path });
  }
  return withoutAllowed(flagged, place);
}

async function readLines(
  repo: GitRepo,
  path: string,
  revs: readonly (string | undefined)[],
): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const rev of revs) {
    const bytes = rev === undefined ? undefined : await readBlob(repo, rev, path);
    for (const line of bytes?.toString('utf8').split('\n') ?? []) lines.add(line);
  }
  return lines;
}

async function withoutAllowed(
  found: readonly (LocatedSecret & { readonly path: string })[],
  { paths, machine }: Omit<SecretPlace, 'revs'>,
): Promise<FlaggedSecret[]> {
  if (found.length === 0) return [];
  // A commit waits for this, and nearly none has anything to ask for.
  const { isAllowedSecret } = await import('./trust.ts');
  const home = findForgeHome(machine.env, machine.homeDir);
  return found
    .map(({ value, ...one }) => ({ ...one, allow: toSecretId(value) }))
    .filter(({ allow }) => !isAllowedSecret({ home, paths }, allow));
}

/** Tells nothing of it, and the same one everywhere. */
function toSecretId(value: string): string {
  return hash('sha256', value).slice(0, 12);
}

/** Throws state_invalid with the place of each. */
export function refuseSecrets(flagged: readonly FlaggedSecret[]): void {
  const [first] = flagged;
  if (first === undefined) return;
  const others = flagged.length - 1;
  const more = others === 0 ? '' : `, and ${countNoun(others, 'more place')} ${others === 1 ? 'does' : 'do'}`;
  throw new ForgeError('state_invalid', `${describe(first)}${more}: nothing was committed`, {
    hint: toNext(first),
    details: {
      secrets: flagged.map(({ id, field, path, name, allow }) => ({
        id: id ?? null,
        field,
        path,
        looks_like: name,
        allow,
      })),
    },
  });
}

/** One sentence for each place, and what to do. */
export function tellSecrets(flagged: readonly FlaggedSecret[], what: string): string[] {
  const told = flagged.slice(0, SHOWN).map((one) => `${describe(one)}: ${what}. Next: ${toNext(one)}`);
  return flagged.length <= SHOWN ? told : [...told, `${flagged.length - SHOWN} more places do`];
}

function describe({ id, field, path, name }: FlaggedSecret): string {
  const where = id === undefined ? `${path}${field === '' ? '' : ` (${field})`}` : id;
  return escapeLine(`${where} holds what looks like ${name}${id === undefined ? '' : ` in its ${field}`}`);
}

function toNext({ command, allow, id, path }: FlaggedSecret): string {
  const mend = command ?? (id === undefined ? `take it out of ${path}` : 'make the key void');
  return `${mend}; or let it through: forge trust --allow-secret ${allow}`;
}

/** Of the task files as they lie in the checkout, for a person who has yet to commit them. */
export async function tellUncommitted(
  repo: GitRepo,
  { tasks, history }: { readonly tasks: string; readonly history: string },
  place: Omit<SecretPlace, 'revs'>,
): Promise<string[]> {
  const files = new Map<string, Uint8Array>();
  for (const [path, file] of [
    [TASKS_PATH, tasks],
    [HISTORY_PATH, history],
  ] as const)
    // A link leads to no task file, and perhaps to what never ends.
    if (statFile(file) !== undefined) files.set(path, readFileSync(file));
  const flagged = await flagSecretsFor(repo, files, { ...place, revs: ['HEAD'] });
  return tellSecrets(flagged, 'no commit will take it');
}
