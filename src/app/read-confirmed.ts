import type { FoundProject } from '#sync/find-project.ts';
import type { AttemptLister } from '#sync/held-lines.ts';
import { findConfigChange } from '#sync/shared-config.ts';

/** Nearly always the checkout's config is the same as the copy, and nothing is loaded to ask whose it is. */
export async function readConfirmed(
  found: FoundProject,
  store: AttemptLister,
  how: { readonly env: NodeJS.ProcessEnv; readonly reads?: boolean | undefined },
): Promise<FoundProject['config']> {
  if (findConfigChange(found.paths) === undefined) return found.config;
  const { confirmConfig } = await import('#sync/confirm-config.ts');
  return confirmConfig(found, store, how);
}
