import type { pickAttempt as declaration } from '#contract/run-task-operations.ts';
import { notActive, pickAttempt } from '#engine/pick-attempt.ts';
import { findPickRule } from '#engine/side-by-side.ts';
import { listSteps } from '#engine/review-gate.ts';
import { checkFence } from '#engine/transition-task.ts';
import { describeWork, mergePassed } from '#engine/work-task.ts';
import { ForgeError } from '#kernel/errors.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';
import { refuseAgentMerge } from './refuse-agent-merge.ts';
import { refuseAgentPick } from './refuse-agent-pick.ts';
import { workedText } from './worked-text.ts';

export const attemptPick = implement<typeof declaration>({
  async run(ctx, { attempt: ref, reason, merge = false, fence }) {
    refuseAgentMerge(await ctx.actor(), merge);
    const { store } = ctx.project;
    const attempt = await store.getAttempt(ref);
    if (attempt.state !== 'active') throw notActive(attempt, attempt.state);
    const { task_id, number } = attempt;
    const active = await store.listAttempts({ task_id, state: 'active' });
    checkFence(await store.readStanding(task_id), fence);
    const workshop = await ctx.workshop();
    await workshop.place.settleLost();
    const open = (await store.listRuns({ attempt_id: attempt.id, open: true }))[0];
    if (open !== undefined) {
      throw new ForgeError('state_invalid', `Attempt ${number} at ${task_id} is still worked on`, {
        hint: `forge runs stop ${open.id}, or wait for it: forge runs logs ${open.id} --follow`,
        details: { id: attempt.id, run: open.id },
      });
    }
    const engine = await engineOf(ctx);
    const task = await store.getTask(task_id);
    refuseAgentPick(engine.workflow, {
      actor: await ctx.actor(),
      rule: findPickRule(workshop.place, active),
      attempts: active,
      task,
    });
    const { version } = task;
    // Before anything is archived: the gate would refuse it.
    await workshop.place.trust.require(listSteps(workshop.place, task));
    const why = `attempt ${number} was picked${reason === undefined ? '' : `: ${reason}`}`;
    await workshop.during(task_id, () =>
      pickAttempt(workshop.place, engine, { attempt, version, fence, reason: why }),
    );
    await workshop.settled(task_id);
    if (merge) await mergePassed(workshop, engine, task_id);
    return describeWork(workshop, engine, { id: task_id, merge });
  },
  text: (worked, view) => workedText([worked], view),
  // One that nobody works on just now has nowhere to get to.
  exit: ({ reached, task }) => (reached || task.status === 'open' ? 0 : 1),
});
