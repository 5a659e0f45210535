import type { dispatchTasks as declaration } from '#contract/dispatch-operations.ts';
import { findTarget } from '#engine/attempt-workspace.ts';
import { recoverProject } from '#engine/recover-project.ts';
import { dispatchTasks } from '#engine/dispatch-tasks.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { getManaged } from './get-managed.ts';
import { implement } from './operation.ts';
import { refuseAgentMerge } from './refuse-agent-merge.ts';
import { watchWork } from './watch-work.ts';
import { workedText } from './worked-text.ts';

export const dispatch = implement<typeof declaration>({
  async run(ctx, { max, agents, until_empty = false, merge = false }) {
    // Whoever dispatches is known before anything is started: the files that others rely on are kept up by that.
    refuseAgentMerge(await ctx.actor(), merge);
    const workshop = await ctx.workshop();
    const { place } = workshop;
    for (const name of agents ?? []) getManaged(place, name);
    if (place.agents.list().length === 0) {
      throw new ForgeError('not_found', 'There is no agent that Forge can start', {
        hint: 'forge agent add worker-1 --executor claude',
      });
    }
    // Otherwise every ready task would be blocked by it, one after the other.
    await findTarget(place);
    const stop = await watchWork(ctx, workshop);
    try {
      await recoverProject(workshop);
      return await dispatchTasks(workshop, {
        max,
        agents,
        merge,
        until_empty,
        exclude_types: ctx.project.config.ready.excludeTypes,
        tell: (line) => ctx.host.notice(escapeLine(line)),
      });
    } finally {
      stop();
    }
  },
  text: (worked, view) => (worked.length === 0 ? 'Nothing was ready.' : workedText(worked, view)),
  exit: (worked) => (worked.every(({ reached }) => reached) ? 0 : 1),
});
