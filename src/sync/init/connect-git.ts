import { hasRemote } from '#git/branches.ts';
import { isForgeError } from '#kernel/errors.ts';
import { ALTERING_HINT, describeAltering, listAltering } from '../altering-attributes.ts';
import { hasCloneAttributes } from '../attribute-lines.ts';
import { installHooks, readHookStatus, type HookStatus } from '../hook-blocks.ts';
import { areHooksRemembered } from '../hooks/hook-memory.ts';
import { describeIgnored, IGNORED_HINT, listIgnoredFiles } from '../ignored-files.ts';
import { toGitRepo, type Machine } from '../machine.ts';
import { isMergeDriverRegistered, registerMergeDriver } from '../merge-driver-config.ts';
import type { ProjectPaths } from '../project-paths.ts';

export interface Connection {
  /** What did not go as it should, and what else the person should know. */
  readonly notes: readonly string[];
}

/**
 * This clone's part: the merge driver in its configuration and the blocks in its hooks. Nothing of it is needed for
 * tasks to be safe, so that what cannot be done is told and not thrown.
 */
export async function connectGit(paths: ProjectPaths, machine: Machine): Promise<Connection> {
  const { program, env } = machine;
  const notes: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isForgeError(error)) throw error;
      // A git that is missing was told with the first of them.
      if (error.code === 'dependency_missing' && notes.length > 1) return;
      notes.push(`${what}: ${[error.message, error.hint].filter((text) => text !== undefined).join('. ')}`);
    }
  };
  await attempt('The merge driver was not registered', () => registerMergeDriver({ paths, program, env }));
  await attempt('The hooks were not installed', async () => {
    for (const hook of await installHooks({ paths, program, env })) {
      if (hook.state !== 'installed') notes.push(`Hook ${hook.hook}: ${hook.advice ?? hook.state}`);
    }
  });
  await attempt('What git does with the task files could not be asked', async () => {
    notes.push(...(await adviseOnRules(paths, machine)));
  });
  return { notes };
}

/** Rules of the repository by which git passes over the task files, or changes them. */
async function adviseOnRules(paths: ProjectPaths, machine: Machine): Promise<string[]> {
  const repo = toGitRepo(paths.root, machine);
  const altering = await listAltering(repo);
  const ignored = await listIgnoredFiles(repo);
  return [
    ...(altering.length > 0 ? [`${describeAltering(altering)}; see: ${ALTERING_HINT}`] : []),
    ...(ignored.length > 0
      ? [
          `Git ignores ${describeIgnored(ignored)}, so that no commit takes them; to commit them all the same: ${IGNORED_HINT}`,
        ]
      : []),
  ];
}

/** For whoever starts a project: servers do not run merge drivers. */
export async function adviseOnRemote(paths: ProjectPaths, machine: Machine): Promise<string[]> {
  try {
    return (await hasRemote(toGitRepo(paths.root, machine))) ? [REMOTE_HINT] : [];
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return []; // Without git there is nothing to advise on; what else it was needed for has said so.
  }
}

export const REMOTE_HINT =
  'If you merge by pull requests, branches that each change tasks conflict on the server: set sync.exportOn to "default-branch" in .forge/config.json, or use forge init --upgrade --branch forge-data';

export async function isConnected(paths: ProjectPaths, { program, env }: Machine): Promise<boolean> {
  if (!isMergeDriverRegistered(paths, program) || !hasCloneAttributes(paths)) return false;
  const hooks = await readHookStatus({ paths, program, env });
  if (!hooks.every(({ state }) => !MISSING.has(state))) return false;
  // Written last: an init that was killed among the hooks has not.
  return hooks.some(({ state }) => state !== 'installed') || areHooksRemembered(paths);
}

/** What another `forge init` could mend; the other states are the user's to decide. */
const MISSING: ReadonlySet<HookStatus['state']> = new Set(['absent', 'outdated']);
