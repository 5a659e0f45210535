import type { drawWorkflow } from '#contract/workflow-definition-operations.ts';
import { findGatePaths } from '#sync/gate-files.ts';
import { findWorkflow, resolveFound } from '#sync/workflow-file.ts';
import { implement } from './operation.ts';
import { toWorkflowDot, toWorkflowMermaid, toWorkflowText } from './workflow-drawing.ts';

export const workflowGraph = implement<typeof drawWorkflow>({
  async run(ctx, { format = 'text' }) {
    const found = findWorkflow((await findGatePaths(ctx.project, ctx.machine)).workflow);
    const workflow = (ctx.project.checkWorkflow ?? resolveFound)(found);
    switch (format) {
      case 'text':
        return { format, text: toWorkflowText(workflow) };
      case 'mermaid':
        return { format, text: toWorkflowMermaid(workflow) };
      case 'dot':
        return { format, text: toWorkflowDot(workflow) };
    }
  },
  text: ({ text }) => text.replace(/\n$/, ''),
});
