import type { InputOf } from '#contract/declare.ts';
import type { setWorkflow } from '#contract/workflow-definition-operations.ts';
import type { Workflow } from '#contract/workflow.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { resolveWorkflow } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { countTasks, escapeLine, utf8Length } from '#kernel/text.ts';
import { hasWorkflowFile, workflowDigest, writeWorkflow } from '#sync/workflow-file.ts';
import { implement, type OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';
import { parseWorkflow } from './workflow-faults.ts';

/** Written rather than removed: a copy of the old one in another branch must not come back. */
const DEFAULT_TEXT = '{}\n';

export const workflowSet = implement<typeof setWorkflow>({
  async run(ctx, input) {
    const text = toText(input);
    // Lines of a text that nobody wrote would lead nowhere.
    const workflow = parseWorkflow(
      typeof input.definition === 'object' ? input.definition : text,
      'The workflow',
    );
    const stranded = await listStranded(ctx, workflow);
    if (stranded.length > 0 && input.force !== true) throw refuseStranded(stranded);
    const { paths, store } = ctx.project;
    const isDefault = workflow === DEFAULT_WORKFLOW;
    const written =
      isDefault && !hasWorkflowFile(paths)
        ? { source: 'default' as const, path: null, changed: false }
        : writeWorkflow(paths, text);
    // A server that stays open must offer the right tasks at once.
    await store.setParkedStates(resolveWorkflow(workflow).parked_states);
    if (written.changed)
      await store.noteEvent(
        { type: 'project.changed', data: { changed: ['workflow'] } },
        await writerOf(ctx),
      );
    return {
      ...written,
      ...(isDefault && { source: 'default' as const }),
      digest: workflowDigest(written.path === null ? '' : text),
      states: workflow.states.length,
      stranded,
    };
  },
  text({ source, path, changed, states, stranded }) {
    const what =
      source === 'default' ? 'the built-in one' : `${escapeLine(path ?? '')} with ${states} states`;
    return [
      changed ? `The workflow is now ${what}` : `The workflow is ${what}, as before`,
      ...stranded.map(
        ({ state, tasks }) => `  ${countTasks(tasks)} in ${escapeLine(state)}, which it does not have`,
      ),
    ].join('\n');
  },
});

function toText({ definition, default: asDefault }: InputOf<typeof setWorkflow>): string {
  if (definition !== undefined && asDefault === true) {
    throw new ForgeError('invalid_input', 'Either a workflow or the built-in one, not both', {
      hint: 'forge workflow set --default',
    });
  }
  if (asDefault === true) return DEFAULT_TEXT;
  if (definition === undefined) {
    throw new ForgeError('invalid_input', 'Which workflow? Name a file, or ask for the built-in one', {
      hint: 'forge workflow set <file>, or forge workflow set --default',
    });
  }
  const text = typeof definition === 'string' ? definition : JSON.stringify(definition, null, 2);
  if (text.trim() === '') return DEFAULT_TEXT;
  const file = text.endsWith('\n') ? text : `${text}\n`;
  // As a file it must be one that can be read again.
  if (utf8Length(file) <= LIMITS.workflow_bytes) return file;
  throw new ForgeError('invalid_input', `The workflow is larger than ${LIMITS.workflow_bytes} bytes`, {
    details: { limit: LIMITS.workflow_bytes },
  });
}

interface Stranded {
  readonly state: string;
  readonly tasks: number;
}

async function listStranded(ctx: OperationContext, workflow: Workflow): Promise<Stranded[]> {
  const { store, config } = ctx.project;
  const stats = await store.readStats({ now: ctx.clock.now(), exclude_types: config.ready.excludeTypes });
  const known = new Set(workflow.states.map(({ name }) => name));
  return Object.entries(stats.by_state)
    .filter(([state]) => !known.has(state))
    .map(([state, tasks]) => ({ state, tasks }));
}

function refuseStranded(stranded: readonly Stranded[]): ForgeError {
  const list = stranded.map(({ state, tasks }) => `${countTasks(tasks)} in ${state}`).join(', ');
  return new ForgeError('state_invalid', `Tasks stand in states that the workflow does not have: ${list}`, {
    hint: 'Move them first, or take it all the same with --force',
    details: { stranded },
  });
}
