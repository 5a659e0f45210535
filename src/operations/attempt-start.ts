import type { startAttempt as declaration } from '#contract/run-task-operations.ts';
import { explainRefusal } from '#domain/explain-refusal.ts';
import { claimTask } from '#engine/change-task.ts';
import { checkExecutorProfile, listExecutorTypes } from '#engine/executor-kinds.ts';
import type { WorkPlace } from '#engine/work.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { engineOf } from './engine-of.ts';
import { implement, type OperationContext } from './operation.ts';
import { refuseAgentRule } from './refuse-agent-pick.ts';
import { readSideWishes } from './side-wishes.ts';

export const attemptStart = implement<typeof declaration>({
  async run(ctx, { id, agent, agents = [], attempts: count, pick, fence }) {
    const { store } = ctx.project;
    const { id: whole } = await store.findTask(id);
    if (!ctx.stays) {
      throw new ForgeError('not_available', 'This process ends with its answer and cannot watch an agent', {
        hint: `forge run ${whole} --agent ${agents[0] ?? agent ?? '<name>'}`,
        details: { action: 'dispatch_role_agent' },
      });
    }
    const engine = await engineOf(ctx);
    const { place } = await ctx.workshop();
    refuseAgentRule(await ctx.actor(), { asked: pick, set: place.settings().attempts.pick });
    const named = [...(agent === undefined ? [] : [agent]), ...agents];
    const found: string[] = [];
    for (const name of named) found.push(await findAgent(ctx, place, name));
    const { agent: assignee, attempts } = readSideWishes({ agents: found, count, pick });
    const claim = await claimTask({ ...engine, attempts }, { id: whole, assignee, force: false, fence });
    if (claim.outcome !== 'claimed') throw explainRefusal(claim);
    const { task } = await store.readStanding(claim.task.id);
    const active = await store.listAttempts({ task_id: task.id, state: 'active' });
    const run = (await store.listRuns({ task_id: task.id })).findLast(({ attempt_id }) =>
      active.some((one) => one.id === attempt_id),
    );
    const attempt = active.find((one) => one.id === run?.attempt_id);
    if (attempt === undefined || run === undefined) {
      const why = task.error_annotation?.message ?? 'its workflow starts no agent there';
      throw new ForgeError('state_invalid', `${task.id} is in ${task.state}: ${why}`, {
        hint: `forge task show ${task.id}`,
        details: { id: task.id, state: task.state },
      });
    }
    return { attempt_id: attempt.id, run_id: run.id, attempt, task, attempts: active };
  },
  text: ({ attempt, run_id }) =>
    escapeLine(`Started run ${run_id} on ${attempt.task_id}, in ${attempt.path}`),
});

/**
 * By name, or the first that is run by this executor: `claude`, also as `CLAUDE_CODE`. Where there is none, one of the
 * executor's own name is registered, so that the first attempt on a machine needs nothing before it. Throws
 * invalid_input for an executor that has to be told what to run.
 */
async function findAgent(ctx: OperationContext, { agents }: WorkPlace, wanted: string): Promise<string> {
  const named = agents.find(wanted);
  if (named !== undefined) return named.name;
  const kind = wanted.toLowerCase().replace(/[-_](?:code|cli)$/, '');
  const found = agents.list().find(({ profile }) => profile.executor === kind);
  if (found !== undefined) return found.name;
  const isExecutor = listExecutorTypes().some((type) => type.kind === kind);
  // Somebody else starts an agent of that name.
  const isTaken = (await agents.facts.readAll()).has(kind);
  if (!isExecutor || isTaken) {
    throw new ForgeError(
      'not_found',
      `${wanted} is neither an agent that Forge can start nor the executor of one`,
      {
        hint: 'forge agent list',
        details: { agent: wanted },
      },
    );
  }
  const wish = { executor: kind };
  const now = ctx.clock.now();
  return (await addAgent(ctx.place.home, { name: kind, wish, now, check: checkExecutorProfile })).name;
}
