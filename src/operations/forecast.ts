import type { Attempt } from '#contract/attempt.ts';
import type { forecast as declaration } from '#contract/workspace-operations.ts';
import { openControl } from '#engine/attempt-workspace.ts';
import { escapeLine } from '#kernel/text.ts';
import { forecastAttempts } from '#sync/forecast-attempts.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { implement } from './operation.ts';

export const forecast = implement<typeof declaration>({
  async run(ctx) {
    const { place } = await ctx.workshop();
    const unfinished = await place.store.listAttempts({ state: 'active' });
    const { attempts, target, pairs } = await forecastAttempts(await openControl(place), unfinished);
    return {
      attempts,
      target: target.map(({ attempt, files }) => ({
        ...toSide(attempt),
        target: attempt.target,
        files: [...files],
      })),
      pairs: pairs.map(({ a, b, files }) => ({ a: toSide(a), b: toSide(b), files: [...files] })),
    };
  },
  text({ attempts, target, pairs }) {
    if (attempts === 0) return 'No unfinished attempt has changes.';
    const lines = [
      ...target.map(
        ({ task_id, branch, target: onto, files }) =>
          `${task_id} (${branch}) and ${onto}: ${nameFiles(files, files.length)}`,
      ),
      ...pairs.map(
        ({ a, b, files }) =>
          `${a.task_id} (${a.branch}) and ${b.task_id} (${b.branch}): ${nameFiles(files, files.length)}`,
      ),
    ];
    if (lines.length === 0) return `No conflicts between ${attempts} unfinished attempts and their target.`;
    return lines.map(escapeLine).join('\n');
  },
});

function toSide({ id: attempt_id, task_id, branch }: Attempt): {
  attempt_id: string;
  task_id: string;
  branch: string;
} {
  return { attempt_id, task_id, branch };
}
