import { isAbsolute, join } from 'node:path';
import type { GitConfigEntry } from './parse-git-config.ts';

/** A filter of the user's configuration: what `git add` and a checkout of the user's would run. */
export interface UserFilter {
  readonly name: string;
  readonly clean: string | undefined;
  readonly smudge: string | undefined;
  readonly process: string | undefined;
  readonly required: boolean;
}

/** A filter's program is LFS's own or none: the name in the key says nothing about what would run. */
const LFS_COMMAND = /^git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f| %f)?$/;
const FILTER_KEY = /^filter\.([^]+)\.(clean|smudge|process|required)$/;

/** The filters of the user's effective configuration. LFS is left out where its programs are its own: git runs it as ever. */
export function listUserFilters(entries: readonly GitConfigEntry[]): readonly UserFilter[] {
  const found = new Map<string, Map<string, string | undefined>>();
  for (const { key, value } of entries) {
    const [, name, part] = FILTER_KEY.exec(key) ?? [];
    if (name === undefined || part === undefined) continue;
    const parts = found.get(name) ?? new Map<string, string | undefined>();
    found.set(name, parts.set(part, value));
  }
  const filters = [...found].map(([name, parts]) => ({
    name,
    clean: toCommand(parts.get('clean')),
    smudge: toCommand(parts.get('smudge')),
    process: toCommand(parts.get('process')),
    required: parts.has('required') && isTrue(parts.get('required')),
  }));
  return filters.filter((filter) => !isOwnLfs(filter) && (hasCommand(filter) || filter.required));
}

function toCommand(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function hasCommand({ clean, smudge, process }: UserFilter): boolean {
  return [clean, smudge, process].some((command) => command !== undefined);
}

function isOwnLfs(filter: UserFilter): boolean {
  const commands = [filter.clean, filter.smudge, filter.process].filter((command) => command !== undefined);
  return filter.name === 'lfs' && commands.every((command) => LFS_COMMAND.test(command));
}

/** The last entry of a key that is true or false; false where there is none. */
export function isOn(entries: readonly GitConfigEntry[], key: string): boolean {
  const entry = entries.findLast((one) => one.key === key);
  return entry !== undefined && isTrue(entry.value);
}

/** A key without a value is true; what git could not read either counts as true, which is the careful way. */
function isTrue(value: string | undefined): boolean {
  return value === undefined || !/^(?:false|no|off|0+|)$/i.test(value);
}

/**
 * The filters as Forge and the attempts have them. The commands run in the user's own checkout and repository: keys are
 * found there, and a program named by a path from the top is the user's, never the copy that an agent may have changed.
 * All are required: one that fails is refused by name, and nothing is stored without it.
 */
export function toFilterEntries(filters: readonly UserFilter[], folder: string): readonly GitConfigEntry[] {
  return filters.flatMap(({ name, clean, smudge, process, required }) => {
    // A side that the user has not named passes everything, unless the user's own git would refuse that too.
    const isOpen = process === undefined && !required && (clean ?? smudge) !== undefined;
    const side = (command: string | undefined): string | undefined =>
      command === undefined
        ? isOpen
          ? 'cat'
          : undefined
        : `${toPrefix(folder.replaceAll('%', '%%'))}${command}`;
    const entry = (part: string, value: string | undefined): readonly GitConfigEntry[] =>
      value === undefined ? [] : [{ key: `filter.${name}.${part}`, value }];
    return [
      ...entry('clean', side(clean)),
      ...entry('smudge', side(smudge)),
      // git puts no path into this one, so it has no percent signs to double.
      ...entry('process', process === undefined ? undefined : `${toPrefix(folder)}${process}`),
      ...entry('required', 'true'),
    ];
  });
}

/** What Forge tells its own git, and the user's must not hear. */
const OWN_VARIABLES =
  'GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG_PARAMETERS GIT_PREFIX';

function toPrefix(folder: string): string {
  return `cd '${folder.replaceAll("'", String.raw`'\''`)}' && unset ${OWN_VARIABLES} && `;
}

/** `core.attributesFile` for a git in another folder: one that is relative is meant from the user's checkout. */
export function toAttributesFile(
  entries: readonly GitConfigEntry[],
  folder: string,
): readonly GitConfigEntry[] {
  const value = entries.findLast(({ key }) => key === 'core.attributesfile')?.value;
  if (value === undefined || value === '') return [];
  const path =
    isAbsolute(value) || value.startsWith('~') || value.startsWith('%(') ? value : join(folder, value);
  return [{ key: 'core.attributesfile', value: path }];
}

/** Filters that keep secrets: a clone that does not configure one must not store a file without it. */
export function isSecretFilter(name: string): boolean {
  return /crypt|secret|vault|sops|gpg|^age$|^git-?age/i.test(name);
}
