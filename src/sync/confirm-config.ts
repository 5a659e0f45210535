import { ForgeError } from '#kernel/errors.ts';
import type { FoundProject } from './find-project.ts';
import { mayBeAttempt, readHeadText } from './head-place.ts';
import type { AttemptLister } from './held-lines.ts';
import type { Machine } from './machine.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { findConfigChange, isReadOtherwise, type StandingConfig } from './shared-config.ts';

interface Surroundings extends Pick<Machine, 'env'> {
  /** The command only reads. */
  readonly reads?: boolean | undefined;
}

/**
 * The config that counts for a command, once git was asked whether an unmerged attempt wrote the one of
 * the working tree. Nearly always that is the same as the copy, and nothing is asked; nor is it for a command that only
 * reads, on a person's branch, where nothing has changed that it obeys.
 */
export async function confirmConfig(
  { paths, config }: FoundProject,
  store: AttemptLister,
  surroundings: Surroundings,
): Promise<ProjectConfig> {
  const standing = await findConfirmed(paths, store, surroundings);
  return standing === undefined ? config : parseProjectConfig(standing.bytes.toString('utf8'), standing.path);
}

export interface ConfirmedConfig extends StandingConfig {
  /** The working tree's is an agent's, and this is another. */
  readonly held: boolean;
}

/** The same with its bytes; undefined where there was nothing to ask. */
export async function findConfirmed(
  paths: ProjectPaths,
  store: AttemptLister,
  { env, reads }: Surroundings,
): Promise<ConfirmedConfig | undefined> {
  const change = findConfigChange(paths);
  if (change === undefined || (reads === true && !isOpen(paths, change))) return undefined;
  const [{ findHeldFiles, readAtTarget }, { toGitRepo }, { CONFIG_PATH }] = await Promise.all([
    import('./held-files.ts'),
    import('./machine.ts'),
    import('./task-files.ts'),
  ]);
  const { own, shared } = change;
  const repo = toGitRepo(paths.root, { env });
  const held = await findHeldFiles(store, repo, new Map([[CONFIG_PATH, own.toString('utf8')]]));
  if (!held.has(CONFIG_PATH)) return { bytes: own, path: paths.config, held: false };
  const bytes = shared ?? (await readAtTarget(store, repo, CONFIG_PATH));
  if (bytes !== undefined)
    return { bytes, path: shared === undefined ? paths.config : paths.shared_config, held: true };
  throw new ForgeError(
    'state_invalid',
    `${paths.config} is of an attempt that nobody has merged, and this clone has no other`,
    { hint: 'git switch main, then forge init', details: { path: paths.config } },
  );
}

function isOpen(
  { root }: ProjectPaths,
  { own, shared }: { readonly own: Buffer; readonly shared: Buffer | undefined },
): boolean {
  if (mayBeAttempt(readHeadText(root))) return true;
  return shared === undefined ? own.includes('"initMode"') : isReadOtherwise(own, shared);
}
