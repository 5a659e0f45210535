import type { GitRepo } from '#git/ask-git.ts';
import { readBlob } from '#git/read-blob.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { readSharedConfigBytes } from './shared-config.ts';
import { CONFIG_PATH } from './task-files.ts';

interface BranchTips {
  /** What the remote has. */
  readonly theirs: string | undefined;
  /** What this clone committed last: what its config is compared with. */
  readonly ours: string | undefined;
}

/**
 * The config that the data branch shall have. What was changed in this clone since it committed last stands, key by
 * key; all else is as the remote has it, and is written here too. So two clones that began on their own, or changed
 * different keys, end with the same config and not with a commit each for ever.
 */
export async function joinConfigs(
  paths: ProjectPaths,
  repo: GitRepo,
  { theirs, ours }: BranchTips,
): Promise<Buffer | undefined> {
  const mine = readSharedConfigBytes(paths);
  const remote = theirs === undefined ? undefined : await readBlob(repo, theirs, CONFIG_PATH);
  if (mine === undefined || remote === undefined || remote.equals(mine)) return mine;
  const base = ours === undefined ? undefined : await readBlob(repo, ours, CONFIG_PATH);
  if (base?.equals(remote) === true) return mine;
  const isChangedHere = base !== undefined && !base.equals(mine);
  const joined = isChangedHere ? joinKeys(mine, base, remote) : remote;
  const text = joined.toString('utf8');
  const { initMode, branchName } = parseProjectConfig(text, `${theirs}:${CONFIG_PATH}`);
  // Somebody put another mode there by hand; whether to follow is not for a sync to say.
  if (
    initMode !== 'branch' ||
    branchName !== parseProjectConfig(mine.toString('utf8'), paths.config).branchName
  )
    return mine;
  replaceFile(paths.shared_config, text);
  replaceFile(paths.config, text);
  return joined;
}

function joinKeys(mine: Buffer, base: Buffer, theirs: Buffer): Buffer {
  const [here, before, there] = [mine, base, theirs].map(readKeys) as [Keys, Keys, Keys];
  const joined = new Map(there);
  for (const key of new Set([...here.keys(), ...before.keys()])) {
    const value = here.get(key);
    if (JSON.stringify(value) === JSON.stringify(before.get(key))) continue;
    if (value === undefined) joined.delete(key);
    else joined.set(key, value);
  }
  return Buffer.from(`${JSON.stringify(Object.fromEntries(joined), null, 2)}\n`);
}

type Keys = ReadonlyMap<string, unknown>;

function readKeys(bytes: Buffer): Keys {
  const config = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')) as Record<string, unknown>;
  return new Map(Object.entries(config));
}
