import { mkdirSync } from 'node:fs';
import { parseIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { toFileError } from './file-error.ts';
import { mayBeAttempt, readHeadText } from './head-place.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { readRegularFile } from './read-regular-file.ts';

type ConfigPaths = Pick<ProjectPaths, 'config' | 'shared_config'>;

/** The config that counts, and where it stands. */
export interface StandingConfig {
  readonly bytes: Buffer;
  readonly path: string;
}

/**
 * The working tree's config counts, unless an unmerged attempt may have written it: then the copy in the
 * git directory does, which also serves branches without a config, and those that still say what was so before the
 * project moved to another mode. Undefined where neither place has one. No process; `confirmConfig` asks git.
 */
export function readStandingConfig(
  paths: ConfigPaths & Pick<ProjectPaths, 'root'>,
): StandingConfig | undefined {
  const both = readBoth(paths);
  const standing = choose(paths, both);
  const { shared } = both;
  if (standing?.path !== paths.config || shared === undefined || shared.equals(standing.bytes))
    return standing;
  const mayBeHeld = mayBeAttempt(readHeadText(paths.root)) || hasOtherPrefix(standing.bytes, shared);
  return mayBeHeld ? { bytes: shared, path: paths.shared_config } : standing;
}

/** The same for callers that have asked whether the working tree's config is an agent's: it is not. */
function readCheckedConfig(paths: ConfigPaths): StandingConfig | undefined {
  return choose(paths, readBoth(paths));
}

interface BothConfigs {
  readonly own: Buffer | undefined;
  readonly shared: Buffer | undefined;
}

function readBoth(paths: ConfigPaths): BothConfigs {
  const own = readConfigFile(paths.config);
  return {
    own,
    shared: own === undefined ? readConfigFile(paths.shared_config) : readOr(paths.shared_config),
  };
}

function choose(paths: ConfigPaths, { own, shared }: BothConfigs): StandingConfig | undefined {
  if (own === undefined) return shared && { bytes: shared, path: paths.shared_config };
  const isBehind = shared !== undefined && !shared.equals(own) && isModeBehind(own, shared);
  return isBehind ? { bytes: shared, path: paths.shared_config } : { bytes: own, path: paths.config };
}

/** The same, where a config that cannot be read is as good as none. */
export function readSharedConfigBytes(paths: ConfigPaths): Buffer | undefined {
  try {
    return readCheckedConfig(paths)?.bytes;
  } catch {
    return readOr(paths.shared_config);
  }
}

/** Keeps the shared copy up to date. For commands that write; idempotent, and quiet without a config here. */
export function refreshSharedConfig(paths: ProjectPaths): void {
  const standing = readCheckedConfig(paths);
  if (standing === undefined || standing.path === paths.shared_config) return;
  if (readOr(paths.shared_config)?.equals(standing.bytes) === true) return;
  // The copy outlives the file: a config that cannot be read must never take the place of the last good one.
  if (parseOrUndefined(standing.bytes) === undefined) return;
  try {
    mkdirSync(paths.store_dir, { recursive: true });
    replaceFile(paths.shared_config, standing.bytes);
  } catch (error) {
    throw toFileError(error, `Could not copy ${paths.config} to ${paths.shared_config}`);
  }
}

/** The working tree's config and the copy, where it is open which of them counts. */
export function findConfigChange(paths: ConfigPaths): (BothConfigs & { readonly own: Buffer }) | undefined {
  const own = readOr(paths.config);
  const shared = readOr(paths.shared_config);
  if (own === undefined || shared?.equals(own) === true) return undefined;
  return shared !== undefined && isModeBehind(own, shared) ? undefined : { own, shared };
}

/** Whether they differ in something that a command obeys which only reads. */
export function isReadOtherwise(one: Buffer, other: Buffer): boolean {
  return JSON.stringify(parseOrUndefined(one)) !== JSON.stringify(parseOrUndefined(other));
}

/** The ids of a project stay; another prefix is most likely not the person's. */
function hasOtherPrefix(own: Buffer, shared: Buffer): boolean {
  const [one, other] = [parseOrUndefined(own), parseOrUndefined(shared)];
  if (one === undefined || other === undefined) return false;
  return one.created_at === other.created_at && one.idPrefix !== other.idPrefix;
}

/** Whether the first is from before the project moved to the mode that the second names. */
function isModeBehind(first: Buffer, second: Buffer): boolean {
  // Nearly every config was never moved, and a cold read parses one text then.
  if (!second.includes('"mode_changed_at"')) return false;
  const [one, other] = [parseOrUndefined(first), parseOrUndefined(second)];
  return one !== undefined && other !== undefined && hasLaterMode(one, other);
}

/** Whether `later` is a config of the same project, with a mode that it was moved to after `before` was written. */
export function hasLaterMode(before: ProjectConfig, later: ProjectConfig): boolean {
  if (before.created_at !== later.created_at || before.idPrefix !== later.idPrefix) return false;
  if (before.initMode === later.initMode && before.branchName === later.branchName) return false;
  return isModeLater(before, later);
}

export function isModeLater(before: ProjectConfig, later: ProjectConfig): boolean {
  const at = ({ mode_changed_at }: ProjectConfig): number => parseIso(mode_changed_at ?? '') ?? 0;
  return at(later) > at(before);
}

function parseOrUndefined(bytes: Buffer): ProjectConfig | undefined {
  try {
    return parseProjectConfig(bytes.toString('utf8'), '');
  } catch (error) {
    if (isForgeError(error)) return undefined; // the command that uses it says what is wrong
    throw error;
  }
}

const HINT =
  'Put a regular file in its place, for example the last good one: git log -p -- .forge/config.json';

/** A copy that cannot be read says nothing against the config that can. */
function readOr(path: string): Buffer | undefined {
  try {
    return readConfigFile(path);
  } catch {
    return undefined;
  }
}

/** Undefined where there is none. Throws invalid_input for what is no regular file or too large. */
export function readConfigFile(path: string): Buffer | undefined {
  return readRegularFile(path, { links: 'refuse', hint: HINT });
}
