import { join } from 'node:path';
import type { Run } from '#contract/attempt.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';

/** Where whoever runs an agent writes its log; nothing need be there. */
export function findRunLog(
  { store_dir }: Pick<ProjectPaths, 'store_dir'>,
  { id, attempt_id }: Pick<Run, 'id' | 'attempt_id'>,
): string {
  return join(store_dir, 'attempts', attempt_id, `${id}.jsonl`);
}
