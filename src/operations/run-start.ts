import type { runTasks as declaration } from '#contract/run-task-operations.ts';
import { inTurns } from '#engine/in-turns.ts';
import { resumeTasks } from '#engine/resume-tasks.ts';
import { workTask } from '#engine/work-task.ts';
import { toIso } from '#kernel/clock.ts';
import { engineOf } from './engine-of.ts';
import { getManaged } from './get-managed.ts';
import { implement } from './operation.ts';
import { refuseAgentMerge } from './refuse-agent-merge.ts';
import { refuseAgentRule } from './refuse-agent-pick.ts';
import { readSideWishes } from './side-wishes.ts';
import { watchWork } from './watch-work.ts';
import { workedText } from './worked-text.ts';

export const runStart = implement<typeof declaration>({
  async run(ctx, { ids, agents = [], attempts, pick, merge = false, max }) {
    refuseAgentMerge(await ctx.actor(), merge);
    const workshop = await ctx.workshop();
    const { place } = workshop;
    refuseAgentRule(await ctx.actor(), { asked: pick, set: place.settings().attempts.pick });
    // A person who names a task wants it tried now, also where it has failed before.
    place.mended.all = toIso(ctx.clock.now());
    for (const name of agents) getManaged(place, name);
    const engine = { ...(await engineOf(ctx)), follows: true };
    const isNobody = agents.length === 0 && attempts === undefined && pick === undefined;
    const { agent, ...wishes } = isNobody ? NOBODY : readSideWishes({ agents, count: attempts, pick });
    const tasks = await Promise.all(ids.map((id) => place.store.findTask(id)));
    const whole = [...new Set(tasks.map(({ id }) => id))];
    const stop = await watchWork(ctx, workshop);
    try {
      await resumeTasks(workshop, { only: new Set(whole) });
      const worked = await inTurns(whole, max ?? place.settings().scheduler.max, (id) =>
        Promise.allSettled([workTask(workshop, engine, { id, agent, merge, ...wishes })]),
      );
      // One that fails, or that somebody deletes, does not stop the others: it is told when they are through.
      return worked.flat().map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
    } finally {
      stop();
    }
  },
  text: workedText,
  exit: (worked) => (worked.every(({ reached }) => reached) ? 0 : 1),
});

/** What has passed, or waits for its merge, needs nobody; every other task says who there is. */
const NOBODY = { agent: undefined, attempts: undefined } as const;
