import type { InputOf } from '#contract/declare.ts';
import type { claimTask as declaration } from '#contract/claim-operations.ts';
import { explainRefusal } from '#domain/explain-refusal.ts';
import { claimNext, claimTask } from '#engine/change-task.ts';
import type { Engine } from '#engine/engine.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { getRegistered } from './get-registered.ts';
import { implement, type OperationContext } from './operation.ts';

export const taskClaim = implement<typeof declaration>({
  async run(ctx, input) {
    const plain = await engineOf(ctx);
    const assignee = await readAssignee(plain, input);
    const engine = { ...plain, overrides: await readOverrides(plain, input.overrides ?? null, assignee) };
    if (input.next === true) return claimFirst(ctx, engine, { ...input, assignee });
    if (input.id === undefined) throw usage('Which task? Give its id, or --next for the first ready one');
    if (input.type !== undefined || input.label !== undefined)
      throw usage('--type and --label belong to --next');
    const claim = await claimTask(engine, {
      id: input.id,
      assignee,
      force: input.force === true,
      fence: input.fence,
      lease_ms: toMs(input.lease),
    });
    if (claim.outcome !== 'claimed') throw explainRefusal(claim);
    return { ...claim.task, claimed: true as const, fence: claim.fence };
  },
  text: (task) =>
    [
      `Claimed task ${escapeLine(task.id)} for ${escapeLine(task.assignee ?? '')}: ${escapeLine(task.title)}`,
      ...describeFormerOwner(task),
    ].join('\n'),
});

/** A name that is said to be an agent's must be known as one; every other may be anybody's. */
async function readAssignee(
  { agents, by }: Engine,
  { agent_id, assignee = agent_id }: InputOf<typeof declaration>,
): Promise<string> {
  if (agent_id === undefined) return assignee ?? by.actor.name;
  if (assignee !== agent_id) {
    throw new ForgeError('invalid_input', 'A task has one owner: give agent_id or assignee, not both', {
      details: { agent_id, assignee },
    });
  }
  const isCaller = by.actor.kind === 'agent' && by.actor.name === agent_id;
  return isCaller ? agent_id : getRegistered(agents, agent_id);
}

async function claimFirst(
  ctx: OperationContext,
  engine: Engine,
  input: InputOf<typeof declaration> & { assignee: string },
) {
  if (input.id !== undefined) throw usage('Give an id or --next, not both');
  if (input.fence !== undefined) throw usage('--fence is of a claim that there is; --next takes a new task');
  if (input.force === true) throw usage('--next takes only what is ready; --force needs an id');
  const claimed = await claimNext(engine, {
    assignee: input.assignee,
    type: input.type,
    label: input.label,
    exclude_types: ctx.project.config.ready.excludeTypes,
    lease_ms: toMs(input.lease),
  });
  if (claimed === undefined) {
    throw new ForgeError('nothing_ready', 'No task is ready', { hint: 'forge ready --explain' });
  }
  return { ...claimed, claimed: true as const };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

const OVERRIDES = ['model', 'effort'] as const;

/** What a run does differently this once. What it may do is its profile's alone to say. */
async function readOverrides(
  { agents, follows }: Engine,
  overrides: Readonly<Record<string, unknown>> | null,
  assignee: string,
): Promise<Engine['overrides']> {
  if (overrides === null) return undefined;
  if (follows !== true || !(await agents.isManaged(assignee))) {
    throw new ForgeError('not_available', 'Only a run of a managed agent has something to override', {
      details: { action: 'dispatch_role_agent' },
    });
  }
  for (const [name, value] of Object.entries(overrides)) {
    if (OVERRIDES.some((known) => known === name) && typeof value === 'string' && value !== '') continue;
    throw new ForgeError(
      'invalid_input',
      `overrides: ${escapeLine(name)} is not model or effort with a text`,
      {
        details: { field: 'overrides' },
      },
    );
  }
  return overrides;
}

function usage(message: string): ForgeError {
  return new ForgeError('usage', message, { hint: 'forge claim --help' });
}
