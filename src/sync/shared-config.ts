import { readFileSync } from 'node:fs';
import type { ProjectPaths } from './project-paths.ts';

/** The project's config as it stands; undefined where neither place has one. */
export function readSharedConfigBytes(
  paths: Pick<ProjectPaths, 'config' | 'shared_config'>,
): Buffer | undefined {
  for (const path of [paths.config, paths.shared_config]) {
    try {
      return readFileSync(path);
    } catch {
      // The next place, or none.
    }
  }
  return undefined;
}
