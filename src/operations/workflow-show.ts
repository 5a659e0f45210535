import type { OutputOf } from '#contract/declare.ts';
import type { showWorkflow } from '#contract/workflow-definition-operations.ts';
import type { WorkflowHook, WorkflowState } from '#contract/workflow.ts';
import { roleOf, resolveWorkflow } from '#domain/workflow.ts';
import { escapeLine } from '#kernel/text.ts';
import { findCountingWorkflow } from './counting-workflow.ts';
import { implement, type TextView } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

type Output = OutputOf<typeof showWorkflow>;

export const workflowShow = implement<typeof showWorkflow>({
  async run(ctx) {
    const { source, path, digest, workflow } = await findCountingWorkflow(ctx);
    const { definition } = workflow;
    return {
      source,
      path,
      digest,
      roles: definition.roles ?? [],
      states: definition.states,
      initial: workflow.initial,
      cancellation_state: workflow.cancelled,
      ...(workflow.blocked !== undefined && { blocked_state: workflow.blocked }),
      status_states: { in_progress: workflow.in_progress, closed: workflow.closed },
    };
  },
  text(output, view) {
    const table = tableText(view, columnsOf(output, view), output.states);
    // A program that reads the table by its tabs wants nothing else.
    if (!Number.isFinite(view.columns) && !view.color) return table;
    return [escapeLine(describeSource(output)), '', table, '', ...describeMoves(output)].join('\n');
  },
});

function columnsOf(output: Output, view: TextView): Parameters<typeof tableText<WorkflowState>>[1] {
  const resolved = resolveWorkflow(output);
  return [
    { header: 'STATE', value: ({ name }) => name },
    { header: 'KIND', value: kindText, style: (text) => style(view, 'dim', text) },
    { header: 'ROLE', value: ({ name }) => roleOf(resolved, name) ?? '' },
    { header: 'NEXT', value: ({ next = [] }) => next.join(', '), flexible: true, minimum: 16 },
    { header: 'HOOKS', value: hooksText, flexible: 'first', minimum: 16 },
  ];
}

/** `gate, 3`: sent back three times, then it waits for a person. */
function kindText({ kind, gate_config }: WorkflowState): string {
  const max = gate_config?.max_rejections;
  return max === undefined ? kind : `${kind}, ${max}`;
}

function hooksText(state: WorkflowState): string {
  return (['before_exit', 'on_exit', 'on_enter', 'after_enter'] as const)
    .flatMap((phase) => {
      const hooks = (state[phase] ?? []).map(hookText);
      return hooks.length === 0 ? [] : [`${phase}: ${hooks.join(', ')}`];
    })
    .join('; ');
}

function hookText({ action, audience, on_failure, to }: WorkflowHook): string {
  const more = [audience, on_failure].filter((word) => word !== undefined && word !== 'all');
  const target = to === undefined ? '' : ` -> ${to}`;
  return `${action}${target}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

function describeSource({ source, path }: Output): string {
  switch (source) {
    case 'default':
      return 'The built-in workflow.';
    case 'file':
      return `The workflow of ${path ?? ''}`;
    case 'shared':
      return `The workflow of another branch or worktree of this clone (${path ?? ''}); here is none that counts: no .forge/workflow.json, an older one, or one of an attempt that nobody has merged`;
  }
}

function describeMoves({ initial, status_states, cancellation_state, blocked_state }: Output): string[] {
  const blocks = blocked_state === undefined ? '' : `, a block to ${blocked_state}`;
  return [
    `A task begins in ${initial}. A claim leads to ${status_states.in_progress}.`,
    `From every state that is not terminal: a close leads to ${status_states.closed}, a cancellation to ${cancellation_state}${blocks}.`,
  ];
}
