import type { Attempt } from '#contract/attempt.ts';
import { toChildEnvironment } from '#process/child-environment.ts';
import { RUN_HOME, RUN_PROJECT } from '#process/find-own-run.ts';
import type { WorkPlace } from './work.ts';

/** What everything that is started in the attempt's folder may know. */
export function toAttemptEnvironment(
  place: Pick<WorkPlace, 'env' | 'settings' | 'repo' | 'home'>,
  attempt: Attempt,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { ports } = place.settings().workspace;
  const block =
    attempt.port === null
      ? []
      : Array.from({ length: ports }, (_, i) => [
          i === 0 ? 'PORT' : `PORT_${i}`,
          String((attempt.port ?? 0) + i),
        ]);
  return toChildEnvironment(place.env, {
    FORGE_TASK_ID: attempt.task_id,
    FORGE_ATTEMPT_ID: attempt.id,
    FORGE_WORKTREE: attempt.path,
    [RUN_PROJECT]: place.repo.common_dir,
    [RUN_HOME]: place.home,
    COMPOSE_PROJECT_NAME: `forge-${attempt.name}`,
    ...Object.fromEntries(block),
    ...more,
  });
}
