import { join } from 'node:path';
import type { Repository } from '#git/find-repository.ts';
import type { StoreLocation } from '#store/store-location.ts';

/** Where everything of a project lies. The worktree's files belong to a branch, the store to the repository. */
export interface ProjectPaths {
  /** Top folder of the working tree. */
  readonly root: string;
  /** `<root>/.forge`: what travels with git. */
  readonly forge_dir: string;
  readonly common_dir: string;
  /** `<common>/forge`: shared by all branches and linked worktrees, out of reach of `git clean`. */
  readonly store_dir: string;
  /** The tasks, which lie in `store_dir`. */
  readonly store: StoreLocation;
  readonly config: string;
  /** Copy of the config for worktrees and branches that have no `.forge`. */
  readonly shared_config: string;
}

export function toProjectPaths(repository: Repository): ProjectPaths {
  const forgeDir = join(repository.worktree, '.forge');
  const storeDir = join(repository.common_dir, 'forge');
  return {
    root: repository.worktree,
    forge_dir: forgeDir,
    common_dir: repository.common_dir,
    store_dir: storeDir,
    store: { folder: storeDir },
    config: join(forgeDir, 'config.json'),
    shared_config: join(storeDir, 'config.json'),
  };
}
