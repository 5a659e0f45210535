import type { Task } from '#contract/task.ts';
import type { Json } from '#kernel/json.ts';
import { roleOf, type ResolvedWorkflow } from './workflow.ts';
import { roleField } from './workflow-fields.ts';

/** What judges the whole judges its parts: the checks, what the reviewer is told, and who holds the gates. */
export function inheritGates(workflow: ResolvedWorkflow, { review_config, roles }: Task): Map<string, Json> {
  const fields = new Map<string, Json>();
  if (review_config !== undefined) {
    const { ci_steps, review_prompt } = review_config;
    fields.set('review_config', {
      ...(ci_steps !== undefined && { ci_steps }),
      ...(review_prompt !== undefined && { review_prompt }),
    });
  }
  for (const { name, kind } of workflow.states.values()) {
    const role = kind === 'gate' ? roleOf(workflow, name) : undefined;
    const holder = role === undefined ? undefined : roles?.[role];
    if (role !== undefined && holder !== undefined) fields.set(roleField(role), { ...holder });
  }
  return fields;
}
