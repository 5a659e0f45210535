import type { GitRepo } from './ask-git.ts';
import { askGit } from './ask-git.ts';
import { toGitFailure } from './run-git.ts';
import type { GitConfigEntry } from './parse-git-config.ts';
import { listUserFilters, type UserFilter } from './user-filters.ts';

/**
 * What of the user's configuration an attempt and the control directory get. A list of what is let in, because a
 * configuration can name programs in more places than anybody remembers: no hook path, monitor, command, alias,
 * driver or filter but LFS is on it. The user's own filters come apart, see `user-filters.ts`.
 */
const ALLOWED: readonly RegExp[] = [
  /^user\.[^.]+$/,
  /^core\.(?:autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode|sharedrepository)$/,
  /^i18n\.[^.]+$/,
  /^lfs\.(?!.*(?:customtransfer|extension)\b).+$/,
  /^filter\.lfs\.(?:clean|smudge|process|required)$/,
  /^remote\..+\.(?:url|promisor|partialclonefilter)$/,
  /^extensions\.(?:objectformat|partialclone)$/,
];

/** The submodules that the user has here, and where from; how to update one can be a command and is left out. */
const ALLOWED_SUBMODULE = /^submodule\..+\.(?:url|active)$/;

/**
 * The allowed entries of the repository. Who somebody is may also come from a file that git includes for this folder
 * alone, which would not be found from elsewhere: `user.*` is taken wherever it stands.
 */
export async function readAllowedConfig(
  repo: GitRepo,
  { submodules = false }: { readonly submodules?: boolean } = {},
): Promise<AllowedConfig> {
  const args = ['config', '--list', '-z', '--show-scope'];
  const result = await askGit(repo, args);
  if (result.exit !== 0) throw toGitFailure(args, result);
  const fields = result.stdout.split('\0');
  const entries: GitConfigEntry[] = [];
  const all: GitConfigEntry[] = [];
  let is_repository = false;
  let has_commanded_filters = false;
  let initial_branch: string | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', text = ''] = fields.slice(at, at + 2);
    const entry = toEntry(text);
    all.push(entry);
    if (scope === 'command' && entry.key.startsWith('filter.')) has_commanded_filters = true;
    if (scope === 'local') is_repository = true;
    if (entry.key === 'init.defaultbranch') initial_branch = entry.value;
    if (isAllowed(scope, entry, submodules)) entries.push(entry);
  }
  const filters = listUserFilters(all);
  const isLfsOwn = !filters.some(({ name }) => name === 'lfs');
  return {
    entries: entries.filter(({ key }) => isLfsOwn || !key.startsWith('filter.lfs.')),
    all,
    filters,
    has_commanded_filters,
    is_repository,
    initial_branch,
  };
}

export interface AllowedConfig {
  readonly entries: readonly GitConfigEntry[];
  /** Everything that git reads there, in its order. */
  readonly all: readonly GitConfigEntry[];
  readonly filters: readonly UserFilter[];
  /** Some of them come from the environment, which is stronger than any file. */
  readonly has_commanded_filters: boolean;
  /** git has found the repository and let us in; where not, it reads no configuration of it. */
  readonly is_repository: boolean;
  readonly initial_branch: string | undefined;
}

function toEntry(text: string): GitConfigEntry {
  const end = text.indexOf('\n');
  return end === -1
    ? { key: text, value: undefined }
    : { key: text.slice(0, end), value: text.slice(end + 1) };
}

function isAllowed(scope: string, { key }: GitConfigEntry, submodules: boolean): boolean {
  if (scope === 'command') return false;
  if (key.startsWith('user.')) return true;
  if (scope !== 'local' && scope !== 'worktree') return false;
  if (submodules && ALLOWED_SUBMODULE.test(key)) return true;
  return ALLOWED.some((pattern) => pattern.test(key));
}

/** The text of a configuration file that holds these entries in their order. */
export function toConfigText(entries: readonly GitConfigEntry[]): string {
  let last = '';
  const lines: string[] = [];
  for (const { key, value } of entries) {
    const [first, end] = [key.indexOf('.'), key.lastIndexOf('.')];
    const section = key.slice(0, first);
    const header = first === end ? `[${section}]` : `[${section} "${quote(key.slice(first + 1, end))}"]`;
    if (header !== last) lines.push(header);
    last = header;
    const name = key.slice(end + 1);
    lines.push(value === undefined ? `\t${name}` : `\t${name} = "${toQuotedValue(value)}"`);
  }
  return `${lines.join('\n')}\n`;
}

function quote(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&');
}

function toQuotedValue(value: string): string {
  return quote(value).replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b');
}

/** Version 1 is what makes every git heed an extension, or refuse what it does not know. */
export function toFormatEntries(
  entries: readonly GitConfigEntry[],
  bare: boolean,
): readonly GitConfigEntry[] {
  const version = entries.some(({ key }) => key.startsWith('extensions.')) ? '1' : '0';
  return [
    { key: 'core.repositoryformatversion', value: version },
    { key: 'core.bare', value: String(bare) },
  ];
}
