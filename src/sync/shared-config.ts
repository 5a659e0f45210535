import { constants, mkdirSync, readFileSync } from 'node:fs';
import { parseIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { toFileError } from './file-error.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';

type ConfigPaths = Pick<ProjectPaths, 'config' | 'shared_config'>;

/** The config that counts, and where it stands. */
export interface StandingConfig {
  readonly bytes: Buffer;
  readonly path: string;
}

/**
 * The working tree's config counts; the copy in the git directory serves branches without one, and those that still say
 * what was so before the project moved to another mode. Undefined where neither place has one. No process.
 */
export function readStandingConfig(paths: ConfigPaths): StandingConfig | undefined {
  const own = readBytes(paths.config);
  const shared = own === undefined ? readBytes(paths.shared_config) : readOr(paths.shared_config);
  if (own === undefined) return shared && { bytes: shared, path: paths.shared_config };
  const isBehind = shared !== undefined && !shared.equals(own) && isModeBehind(own, shared);
  return isBehind ? { bytes: shared, path: paths.shared_config } : { bytes: own, path: paths.config };
}

/** The same, where a config that cannot be read is as good as none. */
export function readSharedConfigBytes(paths: ConfigPaths): Buffer | undefined {
  try {
    return readStandingConfig(paths)?.bytes;
  } catch {
    return readOr(paths.shared_config);
  }
}

/** Keeps the shared copy up to date. For commands that write; idempotent, and quiet without a config here. */
export function refreshSharedConfig(paths: ProjectPaths): void {
  const standing = readStandingConfig(paths);
  if (standing === undefined || standing.path === paths.shared_config) return;
  if (readOr(paths.shared_config)?.equals(standing.bytes) === true) return;
  try {
    mkdirSync(paths.store_dir, { recursive: true });
    replaceFile(paths.shared_config, standing.bytes);
  } catch (error) {
    throw toFileError(error, `Could not copy ${paths.config} to ${paths.shared_config}`);
  }
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

/** A copy that cannot be read says nothing against the config that can. */
function readOr(path: string): Buffer | undefined {
  try {
    return readBytes(path);
  } catch {
    return undefined;
  }
}

function readBytes(path: string): Buffer | undefined {
  try {
    // A pipe in its place is not waited for: it is an empty file then.
    return readFileSync(path, { flag: constants.O_RDONLY | constants.O_NONBLOCK });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what fs throws
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw toFileError(error, `Could not read ${path}`);
  }
}
