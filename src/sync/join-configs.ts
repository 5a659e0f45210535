import { askGit, type GitRepo } from '#git/ask-git.ts';
import { findMergeBase } from '#git/merge-base.ts';
import { readBlob } from '#git/read-blob.ts';
import { readJson } from '#kernel/read-json.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { isModeLater, readSharedConfigBytes } from './shared-config.ts';
import { CONFIG_PATH } from './task-files.ts';

/** Where the config lies that counts here (`findGatePaths`). */
type ConfigPaths = Pick<ProjectPaths, 'config' | 'shared_config'>;

interface BranchTips {
  /** What the remote has. */
  readonly theirs: string | undefined;
  /** What this clone committed last, perhaps without telling anybody. */
  readonly ours: string | undefined;
}

/** A value that was changed on both sides: this clone's stands. */
export interface LostSetting {
  readonly key: string;
  readonly lost: unknown;
  readonly stands: unknown;
}

export interface JoinedConfig {
  /** What the data branch shall have; undefined where there is none. */
  readonly text: Buffer | undefined;
  readonly lost: readonly LostSetting[];
}

/**
 * The config that the data branch shall have. What was changed in this clone since both sides were the same stands,
 * key by key; all else is as the remote has it, and is written here too. So two clones that began on their own, or
 * changed different keys, end with the same config and not with a commit each for ever.
 */
export async function joinConfigs(
  paths: ConfigPaths,
  repo: GitRepo,
  { theirs, ours }: BranchTips,
): Promise<JoinedConfig> {
  const mine = readSharedConfigBytes(paths);
  const keep = { text: mine, lost: [] };
  const remote = theirs === undefined ? undefined : await readBlob(repo, theirs, CONFIG_PATH);
  if (mine === undefined || theirs === undefined || remote === undefined || remote.equals(mine)) return keep;
  if (await isConfigTracked(repo, mine))
    return isModeLater(parse(remote), parse(mine)) ? keep : { text: remote, lost: [] };
  const root = await findMergeBase(repo, ours, theirs);
  const base = root === undefined ? undefined : await readBlob(repo, root, CONFIG_PATH);
  if (base?.equals(remote) === true) return keep;
  const isChangedHere = base !== undefined && !base.equals(mine);
  const joined = isChangedHere ? joinKeys(mine, base, remote) : { text: remote, lost: [] };
  const text = joined.text.toString('utf8');
  const { initMode, branchName } = parseProjectConfig(text, `${theirs}:${CONFIG_PATH}`);
  // Somebody put another mode there by hand; whether to follow is not for a sync to say.
  if (
    initMode !== 'branch' ||
    branchName !== parseProjectConfig(mine.toString('utf8'), paths.config).branchName
  )
    return keep;
  replaceFile(paths.shared_config, text);
  replaceFile(paths.config, text);
  return joined;
}

/** Whether a commit to the data branch leaves the config that is there as it is. */
export async function keepsOwnConfig(paths: ConfigPaths, repo: GitRepo, ref: string): Promise<boolean> {
  const there = await readBlob(repo, ref, CONFIG_PATH);
  const mine = readSharedConfigBytes(paths);
  if (there === undefined || mine === undefined || !(await isConfigTracked(repo, mine))) return false;
  return !isModeLater(parse(there), parse(mine));
}

/**
 * A project that moved to a branch has its config in the user's branches still: it changes with them, like in standard
 * mode. Written here by a sync it would be a change of the user's, and sent from each branch it would never rest.
 */
async function isConfigTracked(repo: GitRepo, mine: Buffer): Promise<boolean> {
  if (parse(mine).mode_changed_at === undefined) return false;
  return (await askGit(repo, ['ls-files', '--error-unmatch', '--', `:(top)${CONFIG_PATH}`])).exit === 0;
}

function parse(bytes: Buffer): ProjectConfig {
  return parseProjectConfig(bytes.toString('utf8'), CONFIG_PATH);
}

function joinKeys(
  mine: Buffer,
  base: Buffer,
  theirs: Buffer,
): { readonly text: Buffer; readonly lost: readonly LostSetting[] } {
  const [here, before, there] = [mine, base, theirs].map(readKeys) as [Keys, Keys, Keys];
  const joined = new Map(there);
  const lost: LostSetting[] = [];
  for (const key of new Set([...here.keys(), ...before.keys()])) {
    const value = here.get(key);
    const other = there.get(key);
    if (isSame(value, before.get(key))) continue;
    if (value === undefined) joined.delete(key);
    else joined.set(key, value);
    if (!isSame(other, before.get(key)) && !isSame(other, value))
      lost.push({ key, lost: other ?? null, stands: value ?? null });
  }
  return { text: Buffer.from(`${JSON.stringify(Object.fromEntries(joined), null, 2)}\n`), lost };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

type Keys = ReadonlyMap<string, unknown>;

function readKeys(bytes: Buffer): Keys {
  const config = readJson(bytes.toString('utf8').replace(/^\uFEFF/, '')) as Record<string, unknown>;
  return new Map(Object.entries(config));
}
