import { basename, dirname } from 'node:path';
import type { Repository } from '#git/find-repository.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { isIdPrefix } from '#kernel/ids.ts';
import { LIMITS } from '#kernel/limits.ts';
import { CONFIG_VERSION, isProjectName, NAME_RULE, PREFIX_RULE, type InitMode } from '../project-config.ts';

export interface ConfigWishes {
  readonly prefix?: string | undefined;
  readonly name?: string | undefined;
  readonly now: number;
  /** A new UUID. */
  readonly id: string;
  readonly mode: InitMode;
  readonly branch: string | undefined;
}

export interface NewConfig {
  readonly name: string;
  readonly idPrefix: string;
  readonly version: number;
  readonly created_at: string;
  readonly projectId: string;
  readonly initMode?: InitMode;
  readonly branchName?: string;
}

/** The order of the keys is the order in the file. */
export function decideConfig(wishes: ConfigWishes, repository: Repository): NewConfig {
  const { prefix = 'fg', name, now, mode, branch } = wishes;
  if (!isIdPrefix(prefix)) throw badInput('prefix', prefix, PREFIX_RULE, 'forge init --prefix fg');
  if (name !== undefined && !isProjectName(name)) {
    throw badInput('name', name, NAME_RULE, 'forge init --name "My project"');
  }
  return {
    name: name ?? toDefaultName(repository),
    idPrefix: prefix,
    version: CONFIG_VERSION,
    created_at: toIso(now),
    projectId: wishes.id,
    ...(mode !== 'standard' && { initMode: mode }),
    ...(branch !== undefined && { branchName: branch }),
  };
}

/** The main worktree's folder, for a linked worktree is named after a branch. */
function toDefaultName({ worktree, git_dir, common_dir }: Repository): string {
  const shared = basename(common_dir);
  const hidden = shared.startsWith('.'); // `.git`, or `.bare` inside the project's folder
  const linked = hidden ? basename(dirname(common_dir)) : shared.replace(/\.git$/, '');
  const folder = git_dir === common_dir ? basename(worktree) : linked;
  // A folder's name may hold what a project's may not.
  const name = folder.replaceAll(/[\u0000-\u001f\u007f]/g, ' ').slice(0, LIMITS.project_name_length);
  return isProjectName(name) ? name : 'project';
}

function badInput(key: string, value: string, allowed: string, hint: string): ForgeError {
  return new ForgeError(
    'invalid_input',
    `The ${key} ${JSON.stringify(value)} cannot be used; allowed is ${allowed}`,
    {
      hint,
      details: { key, value, allowed },
    },
  );
}
