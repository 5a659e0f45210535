import { readSharedModes } from '#git/shared-modes.ts';
import { keepStoreIdentity, type StoreIdentity } from '#store/store-identity.ts';
import type { ProjectConfig } from '#sync/project-config.ts';
import { toIdentityFacts } from '#sync/project-id.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';

/** For a process that stays: the store has its ids from now on, and a copy has others than what it was copied from. */
export function keepIdentity(
  { store, common_dir }: Pick<ProjectPaths, 'store' | 'common_dir'>,
  config: ProjectConfig,
): StoreIdentity {
  return keepStoreIdentity(store, { ...toIdentityFacts(config), modes: readSharedModes(common_dir) });
}
