import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { rescueWorkspaces as declaration } from '#contract/workspace-operations.ts';
import { openControl } from '#engine/attempt-workspace.ts';
import { ForgeError } from '#kernel/errors.ts';
import { countNoun, escapeLine } from '#kernel/text.ts';
import { listRescued, type Rescued, restoreRescued } from '#sync/rescued-work.ts';
import { noteShown } from './note-shown.ts';
import { implement, type OperationContext } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { tableText } from './table-text.ts';
import { wrapWords } from './text-width.ts';

type Rescues = OutputOf<typeof declaration>['rescues'];

export const workspaceRescue = implement<typeof declaration>({
  async run(ctx, input) {
    const { place } = await ctx.workshop();
    const control = await openControl(place);
    const { rescue_days: days, rescue_limit: number } = place.settings().workspace;
    const allowed = { days, number };
    const all = await listRescued(control);
    const found = pickOnes(all, input.attempt);
    const tasks = await findTasks(ctx, found);
    const rescues = found.map((one) => ({ ...one, task_id: tasks.get(one.attempt_id) ?? null }));
    if (input.restore === undefined) {
      if (input.number !== undefined)
        throw new ForgeError('usage', '--number belongs to --restore', {
          hint: 'forge workspace rescue --help',
        });
      await noteShown(ctx, { all, told: found });
      return { rescues, branch: null, allowed };
    }
    const one = pickOne(rescues, input);
    await restoreRescued(control, { branch: input.restore, commit: one.commit });
    return { rescues: [one], branch: input.restore, allowed };
  },
  text({ rescues, branch, allowed }, view) {
    const [one] = rescues;
    if (branch !== null && one !== undefined)
      return escapeLine(`Branch ${branch} is at ${one.commit.slice(0, SHORT_ID)}: ${one.subject}`);
    if (one === undefined) return 'Nothing was rescued.';
    const table = tableText<Rescues[number]>(
      view,
      [
        { header: 'ATTEMPT', value: ({ attempt_id }) => attempt_id.slice(0, SHORT_ID) },
        { header: 'NO', value: ({ number }) => String(number), align: 'right' },
        { header: 'TASK', value: ({ task_id }) => task_id ?? '-' },
        { header: 'HEAD', value: ({ commit }) => commit.slice(0, SHORT_ID) },
        { header: 'AT', value: ({ at }) => at },
        { header: 'WHAT', value: ({ subject }) => subject, flexible: true, minimum: 20 },
      ],
      rescues,
    );
    const told = `Each may go ${countNoun(allowed.days, 'day')} after a person was first shown it, sooner where there are more than ${allowed.number}; the newest of a task stays.`;
    return [table, ...wrapWords(told, { columns: view.columns, indent: '' })].join('\n');
  },
});

function pickOnes(all: readonly Rescued[], ref: string | undefined): readonly Rescued[] {
  if (ref === undefined) return all;
  const found = all.filter(({ attempt_id }) => attempt_id.startsWith(ref.toLowerCase()));
  const candidates = [...new Set(found.map(({ attempt_id }) => attempt_id))];
  if (candidates.length === 1) return found;
  if (candidates.length === 0)
    throw new ForgeError('not_found', `Nothing was rescued of an attempt ${ref}`, {
      hint: 'forge workspace rescue',
      details: { id: ref },
    });
  throw new ForgeError('ambiguous_id', `"${ref}" could be ${candidates.join(', ')}`, {
    hint: 'Type one more character of the id',
    details: { id: ref, candidates },
  });
}

/** The newest of the attempt, or the one of that number. */
function pickOne(rescues: Rescues, { attempt, number }: InputOf<typeof declaration>): Rescues[number] {
  if (attempt === undefined)
    throw new ForgeError('usage', 'Say which attempt to restore', { hint: 'forge workspace rescue' });
  const one = number === undefined ? rescues.at(-1) : rescues.find((rescue) => rescue.number === number);
  if (one !== undefined) return one;
  throw new ForgeError('not_found', `No rescue ${number ?? ''} of attempt ${attempt}`, {
    hint: 'forge workspace rescue',
    details: { attempt, number },
  });
}

async function findTasks(
  { project: { store } }: OperationContext,
  rescues: readonly Rescued[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(rescues.map(({ attempt_id }) => attempt_id));
  const attempts = wanted.size === 0 ? [] : await store.listAttempts({});
  return new Map(attempts.flatMap(({ id, task_id }) => (wanted.has(id) ? [[id, task_id]] : [])));
}
