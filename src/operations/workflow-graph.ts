import type { drawWorkflow } from '#contract/workflow-definition-operations.ts';
import { findCountingWorkflow } from './counting-workflow.ts';
import { implement } from './operation.ts';
import { toWorkflowDot, toWorkflowMermaid, toWorkflowText } from './workflow-drawing.ts';

export const workflowGraph = implement<typeof drawWorkflow>({
  async run(ctx, { format = 'text' }) {
    const { workflow } = await findCountingWorkflow(ctx);
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
