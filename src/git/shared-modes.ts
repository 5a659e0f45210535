import { join } from 'node:path';
import { readPlainFile } from './read-plain-file.ts';
import { findLastEntry, isTrue, parseGitConfig } from './parse-git-config.ts';

const GROUP = 0o660;
const EVERYBODY = 0o664;
/** A folder's new files get its group, as git has it in what is shared. */
const SET_GROUP = 0o2000;

/**
 * The modes of what Forge keeps beside a repository: the owner's alone, and where the repository is shared
 * (`core.sharedRepository`) with those whom git lets in too. git itself asks the repository's own file only.
 */
export function readSharedModes(commonDir: string): { readonly file: number; readonly folder: number } {
  const shared = readShared(commonDir);
  if (shared === 0) return { file: 0o600, folder: 0o700 };
  const file = 0o600 | shared;
  return { file, folder: file | ((file & 0o444) >> 2) | SET_GROUP };
}

function readShared(commonDir: string): number {
  let entries: ReturnType<typeof parseGitConfig>;
  try {
    entries = parseGitConfig(readPlainFile(join(commonDir, 'config'))?.toString('utf8') ?? '');
  } catch {
    return 0; // without it there is no repository, which others say
  }
  const entry = findLastEntry(entries ?? [], 'core.sharedrepository');
  if (entry === undefined) return 0;
  const value = entry.value?.toLowerCase() ?? 'true';
  if (value === 'group') return GROUP;
  if (['all', 'world', 'everybody'].includes(value)) return EVERYBODY;
  if (!/^0*[0-7]{1,3}$/.test(value)) return isTrue(entry) ? GROUP : 0;
  const mode = Number.parseInt(value, 8);
  // What older versions of git wrote.
  if (mode <= 2) return [0, GROUP, EVERYBODY][mode] ?? 0;
  return mode & 0o666;
}
