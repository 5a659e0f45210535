import { Plan, type Run } from '#contract/attempt.ts';
import { Title, type Task } from '#contract/task.ts';
import { inheritGates } from '#domain/inherit-gates.ts';
import { passOrigin } from '#domain/outside-text.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findRunLoss } from './find-standing.ts';
import type { AgentEnd } from './run-agent.ts';
import type { Conclusion } from './settle-run.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** What the planner has to answer, as JSON. */
export const PLAN_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['summary', 'subtasks', 'checklist'],
  properties: {
    summary: { type: 'string' },
    subtasks: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['title', 'description', 'depends_on'],
        properties: {
          title: { type: 'string' },
          description: { type: 'string' },
          depends_on: { type: 'array', items: { type: 'integer' } },
        },
      },
    },
    checklist: { type: 'array', items: { type: 'string' } },
  },
} as const;

/** Subtasks under the task, which waits for them, and the checklist in its description. */
export async function concludePlan(
  place: WorkPlace,
  { task, run }: { readonly task: Task; readonly run: Run },
  end: AgentEnd,
): Promise<Conclusion> {
  const retry_after = end.retry_after ?? null;
  if (end.outcome !== 'completed')
    return { outcome: end.outcome, message: end.message ?? null, retry_after, lost: end.lost };
  const loss = await findRunLoss(place.store, run);
  // A plan for a task that was taken away is written nowhere.
  if (loss !== undefined)
    return { outcome: 'stopped', message: `Stopped: ${loss.message}`, retry_after, lost: loss.code };
  const parsed = Plan.safeParse(end.structured);
  const fault = parsed.success ? findFault(parsed.data) : 'It gave no plan in the form it was asked for';
  if (!parsed.success || fault !== undefined)
    return { outcome: 'failed', message: fault ?? null, retry_after };
  try {
    await applyPlan(place, task, parsed.data);
    return { outcome: 'completed', message: parsed.data.summary, retry_after };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { outcome: 'failed', message: `The plan could not be written: ${error.message}`, retry_after };
  }
}

function findFault({ subtasks }: Plan): string | undefined {
  if (subtasks.length > LIMITS.plan_subtasks)
    return `A plan has at most ${LIMITS.plan_subtasks} subtasks, not ${subtasks.length}`;
  for (const [at, { title, depends_on }] of subtasks.entries()) {
    if (!Title.safeParse(title).success) return `Subtask ${at} has no usable title`;
    const wrong = depends_on.find((before) => before >= at);
    if (wrong !== undefined) return `Subtask ${at} depends on ${wrong}, which does not come before it`;
  }
  return undefined;
}

async function applyPlan(place: WorkPlace, planned: Task, plan: Plan): Promise<void> {
  const { store, project, workflow } = place;
  // Somebody may have changed what gates it while it was planned.
  const { task } = await store.readStanding(planned.id);
  const workflow_fields = inheritGates(workflow(), task);
  const ids: string[] = [];
  // A planner that was cut off plans again: what it made the last time is not made twice.
  const there = await store.listTasks({ parent_id: task.id, include_archived: true });
  const known = new Map(there.map(({ id, title }) => [title, id]));
  let last = 0;
  for (const { title, description, depends_on } of plan.subtasks) {
    const id = known.get(title);
    if (id !== undefined) {
      ids.push(id);
      continue;
    }
    const writer = systemWriter(place);
    // Queues go by the time of creation: what is made within one millisecond keeps the order of the plan.
    last = Math.max(writer.now, last + 1);
    const made = await store.createTask(
      {
        id_prefix: project.prefix,
        title,
        description,
        type: 'task',
        priority: task.priority,
        state: workflow().initial,
        parent_id: task.id,
        assignee: null,
        labels: task.labels,
        github_issue: null,
        depends_on: depends_on.flatMap((before) => ids[before] ?? []),
        metadata: passOrigin(task),
        workflow_fields,
      },
      { ...writer, now: last },
    );
    ids.push(made.id);
  }
  for (const to_id of ids)
    await store.addDependency({ from_id: task.id, to_id, type: 'blocks' }, systemWriter(place));
  if (plan.checklist.length === 0) return;
  const list = plan.checklist.map((item) => `- [ ] ${item}`).join('\n');
  if (task.description.includes(list)) return;
  const description = `${task.description.trimEnd()}\n\n## Checklist\n${list}\n`.trimStart();
  await store.updateTask({ id: task.id, description }, systemWriter(place));
}
