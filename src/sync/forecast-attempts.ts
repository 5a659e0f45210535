import type { Attempt } from '#contract/attempt.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { forecastConflicts } from '#git/forecast-conflicts.ts';
import { readRef } from '#git/read-ref.ts';

export interface AttemptForecast {
  /** How many had something to merge. */
  readonly attempts: number;
  readonly target: readonly { readonly attempt: Attempt; readonly files: readonly string[] }[];
  readonly pairs: readonly { readonly a: Attempt; readonly b: Attempt; readonly files: readonly string[] }[];
}

/**
 * What unfinished attempts would come up against if they were merged now, target by target. One without a harvest has
 * nothing to merge, and one whose target is gone has nothing to be merged into. Two attempts at one task are no pair:
 * one of them is picked.
 */
export async function forecastAttempts(
  control: ControlGit,
  attempts: readonly Attempt[],
): Promise<AttemptForecast> {
  const ready = attempts.filter(
    ({ head_commit, base_commit }) => (head_commit ?? base_commit) !== base_commit,
  );
  const byTarget = Map.groupBy(ready, ({ target }) => target);
  const found: AttemptForecast[] = [];
  for (const [target, group] of byTarget) {
    const tip = await readRef(control.repository, `refs/heads/${target}`);
    if (tip !== undefined) found.push(await forecastGroup(control, tip, group));
  }
  return {
    attempts: found.reduce((sum, one) => sum + one.attempts, 0),
    target: found.flatMap((one) => one.target),
    pairs: found.flatMap((one) => one.pairs),
  };
}

async function forecastGroup(
  control: ControlGit,
  tip: string,
  group: readonly Attempt[],
): Promise<AttemptForecast> {
  const byId = new Map(group.map((attempt) => [attempt.id, attempt]));
  const heads = group.map(({ id, head_commit, base_commit }) => ({ id, head: head_commit ?? base_commit }));
  const { target, pairs } = await forecastConflicts(control, { target: tip, heads });
  return {
    attempts: group.length,
    target: target.flatMap(({ id, files }) => {
      const attempt = byId.get(id);
      return attempt === undefined ? [] : [{ attempt, files }];
    }),
    pairs: pairs.flatMap(({ a: first, b: second, files }) => {
      const [a, b] = [byId.get(first), byId.get(second)];
      return a === undefined || b === undefined || a.task_id === b.task_id ? [] : [{ a, b, files }];
    }),
  };
}
