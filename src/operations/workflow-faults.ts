import type { Workflow } from '#contract/workflow.ts';
import { validateWorkflow } from '#domain/validate-workflow.ts';
import { validateWorkflowText } from '#domain/validate-workflow-text.ts';
import { boundText } from '#kernel/body-scan.ts';
import { ForgeError } from '#kernel/errors.ts';

/**
 * A workflow from what was given, as text or as JSON. Throws invalid_input with every fault in its details, too_large for
 * a text of more values than any workflow has; `what` names it in the message.
 */
export function parseWorkflow(given: string | Readonly<Record<string, unknown>>, what: string): Workflow {
  if (typeof given === 'string') boundText(given, what);
  const { workflow, faults } =
    typeof given === 'string' ? validateWorkflowText(given) : validateWorkflow(given);
  if (workflow !== undefined) return workflow;
  const number = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  throw new ForgeError('invalid_input', `${what} has ${number}`, {
    hint: 'Correct it, then forge workflow validate <file>; docs/workflow.md has the format',
    details: { faults },
  });
}
