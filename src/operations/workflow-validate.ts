import type { validateWorkflowFile } from '#contract/workflow-definition-operations.ts';
import { countNoun, escapeLine } from '#kernel/text.ts';
import { findProject } from '#sync/find-project.ts';
import { findWorkflow, WORKFLOW_PATH } from '#sync/workflow-file.ts';
import { implement, type OperationContext } from './operation.ts';
import { parseWorkflow } from './workflow-faults.ts';

export const workflowValidate = implement<typeof validateWorkflowFile>({
  async run(ctx, { definition }) {
    const given =
      definition === undefined ? findOwn(ctx) : { source: 'given' as const, path: null, text: definition };
    const { source, path, text } = given;
    const { states, roles = [] } = parseWorkflow(
      text,
      path ?? (source === 'given' ? 'The workflow' : WORKFLOW_PATH),
    );
    return { valid: true as const, source, path, states: states.length, roles: roles.length };
  },
  text({ source, path, states, roles }) {
    const what = source === 'default' ? 'The built-in workflow' : (path ?? 'The workflow');
    return `${escapeLine(what)} is fine: ${countNoun(states, 'state')}, ${countNoun(roles, 'role')}`;
  },
});

function findOwn(ctx: OperationContext) {
  return findWorkflow(findProject(ctx.cwd, ctx.machine.env, ctx.machine.homeDir).paths);
}
