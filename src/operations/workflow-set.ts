import type { InputOf } from '#contract/declare.ts';
import type { setWorkflow } from '#contract/workflow-definition-operations.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { checkStateMap, mapStatus, readStateMap, type StateMap } from '#domain/map-states.ts';
import { resolveWorkflow, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { countNoun, countTasks, escapeLine, utf8Length } from '#kernel/text.ts';
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
    const resolved = resolveWorkflow(workflow);
    const map = readStateMap(input.map ?? {});
    const { all, left: stranded } = await listStranded(ctx, resolved, map);
    checkStateMap(map, { workflow: resolved, known: listKnown(ctx, all) });
    if (stranded.length > 0 && input.force !== true)
      throw await refuseStranded(ctx, stranded, {
        workflow: resolved,
        map,
        isDefault: input.default === true,
      });
    await checkStatuses(ctx, map, resolved);
    const { paths, store } = ctx.project;
    const isDefault = workflow === DEFAULT_WORKFLOW;
    const written =
      isDefault && !hasWorkflowFile(paths)
        ? { source: 'default' as const, path: null, changed: false }
        : writeWorkflow(paths, text);
    const by = await writerOf(ctx);
    const digest = workflowDigest(written.path === null ? '' : text);
    // Also where only the file says it already: after this it counts in every checkout.
    await store.setWorkflow({ definition: isDefault ? undefined : workflow, digest }, by);
    // After the file: whoever looks in between sees tasks in states that are gone, and those stand where their status
    // says. The other way round they would be in states that were never there.
    const mapped = map.size === 0 ? [] : await store.mapStates(map, by);
    return {
      ...written,
      ...(isDefault && { source: 'default' as const }),
      digest,
      states: workflow.states.length,
      mapped,
      stranded,
    };
  },
  text({ source, path, changed, states, mapped, stranded }) {
    const what =
      source === 'default'
        ? 'the built-in one'
        : `${escapeLine(path ?? '')} with ${countNoun(states, 'state')}`;
    return [
      changed ? `The workflow is now ${what}` : `The workflow is ${what}, as before`,
      ...mapped.map(({ from, to, tasks }) => `  ${countTasks(tasks)} went from ${from} to ${to}`),
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

/** States that the new workflow does not have: all of them, and those that no map takes care of. */
async function listStranded(
  ctx: OperationContext,
  workflow: ResolvedWorkflow,
  map: StateMap,
): Promise<{ all: Stranded[]; left: Stranded[] }> {
  const { store, config } = ctx.project;
  const stats = await store.readStats({ now: ctx.clock.now(), exclude_types: config.ready.excludeTypes });
  const all = Object.entries(stats.by_state)
    .filter(([state]) => !workflow.states.has(state))
    .map(([state, tasks]) => ({ state, tasks }));
  return { all, left: all.filter(({ state }) => !map.has(state)) };
}

/** States that may be mapped: those of the workflow so far, and wherever tasks stand. */
function listKnown(ctx: OperationContext, stranded: readonly Stranded[]): Set<string> {
  const standing = stranded.map(({ state }) => state);
  try {
    return new Set([...ctx.project.workflow().states.keys(), ...standing]);
  } catch (error) {
    // What is replaced may be broken.
    if (!isForgeError(error) || error.code !== 'invalid_input') throw error;
    return new Set(standing);
  }
}

/** Before anything is written; the store looks again when it moves them. */
async function checkStatuses(
  { project }: OperationContext,
  map: StateMap,
  workflow: ResolvedWorkflow,
): Promise<void> {
  for (const [from, to] of map)
    for (const task of await project.store.listTasks({ state: from, include_archived: true }))
      mapStatus(task, { from, to }, workflow);
}

async function refuseStranded(
  { project }: OperationContext,
  stranded: readonly Stranded[],
  { workflow, map, isDefault }: { workflow: ResolvedWorkflow; map: StateMap; isDefault: boolean },
): Promise<ForgeError> {
  const list = stranded.map(({ state, tasks }) => `${countTasks(tasks)} in ${state}`).join(', ');
  const flags = [...map].map(([from, to]) => `--map ${from}=${to}`);
  for (const { state } of stranded) {
    const [task] = await project.store.listTasks({ state, include_archived: true, limit: 1 });
    if (task !== undefined) flags.push(`--map ${state}=${standingState(workflow, task)}`);
  }
  const what = isDefault ? '--default' : '<file>';
  return new ForgeError('state_invalid', `Tasks stand in states that the workflow does not have: ${list}`, {
    hint: `forge workflow set ${[what, ...flags].join(' ')}; or leave them there: forge workflow set ${what} --force`,
    details: { stranded },
  });
}
