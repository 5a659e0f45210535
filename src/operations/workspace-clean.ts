import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { cleanWorkspaces as declaration, Workspace } from '#contract/workspace-operations.ts';
import { openControl } from '#engine/attempt-workspace.ts';
import { removeWorkspace } from '#engine/retire-attempts.ts';
import type { WorkPlace } from '#engine/work.ts';
import { toIso } from '#kernel/clock.ts';
import { toDurationMs } from '#kernel/duration.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { removeOwnCheckout } from '#sync/own-checkouts.ts';
import { listRescued } from '#sync/rescued-work.ts';
import { listKnown, toWorkspace, type KnownWorkspace } from './list-workspaces.ts';
import { noteShown } from './note-shown.ts';
import { implement } from './operation.ts';
import { SHORT_ID } from './run-text.ts';

type Input = InputOf<typeof declaration>;
type Cleaned = OutputOf<typeof declaration>;

export const workspaceClean = implement<typeof declaration>({
  async run(ctx, input) {
    checkWishes(input);
    const { place } = await ctx.workshop();
    await place.settleLost();
    const known = await listKnown(place, { all: false });
    const named = (input.attempts ?? []).map((ref) => pickNamed(known, ref));
    for (const one of named) refuseBusy(one);
    const wanted = named.length > 0 ? named : await pickDue(place, known, input);
    const cleaned: Cleaned = { removed: [], kept: [] };
    for (const one of new Set(wanted)) await clean(place, one, cleaned);
    const told = new Set(cleaned.removed.flatMap(({ rescued }) => rescued));
    if (told.size > 0) {
      const all = await listRescued(await openControl(place));
      await noteShown(ctx, { all, told: all.filter(({ ref }) => told.has(ref)) });
    }
    return cleaned;
  },
  text: ({ removed, kept }) =>
    removed.length + kept.length === 0
      ? 'No worktree is to be removed.'
      : [
          ...removed.flatMap(({ attempt_id, path, rescued }) => [
            `Removed ${path}`,
            ...rescued.map(
              (ref) =>
                `  kept as ${ref}; forge workspace rescue ${attempt_id.slice(0, SHORT_ID)} --restore <branch>`,
            ),
          ]),
          ...kept.map(({ path, why }) => `Kept ${path}: ${why}`),
        ]
          .map(escapeLine)
          .join('\n'),
});

function checkWishes({ attempts = [], all, older_than }: Input): void {
  const wishes = [attempts.length > 0, all === true, older_than !== undefined].filter(Boolean);
  if (wishes.length < 2) return;
  throw new ForgeError('usage', 'Name worktrees, or say --all or --older-than: not several of these', {
    hint: 'forge workspace clean --help',
  });
}

function pickNamed(known: readonly KnownWorkspace[], ref: string): KnownWorkspace {
  const wanted = ref.toLowerCase();
  const found = known.filter((one) => {
    const { attempt_id, name, branch } = toWorkspace(one, null);
    return attempt_id.startsWith(wanted) || [name, branch].includes(wanted);
  });
  const [only, ...more] = found;
  if (only !== undefined && more.length === 0) return only;
  const candidates = found.map((one) => toWorkspace(one, null).attempt_id);
  if (only === undefined)
    throw new ForgeError('not_found', `No worktree of an attempt ${ref}`, {
      hint: 'forge workspace list',
      details: { id: ref },
    });
  throw new ForgeError('ambiguous_id', `"${ref}" could be ${candidates.join(', ')}`, {
    hint: 'Type one more character of the id',
    details: { id: ref, candidates },
  });
}

function refuseBusy(known: KnownWorkspace): void {
  if (!known.busy) return;
  const { id, name, task_id } = known.attempt;
  throw new ForgeError('state_invalid', `A run is at work in ${name}`, {
    hint: `forge runs list --open --task ${task_id}`,
    details: { attempt: id },
  });
}

async function pickDue(
  place: WorkPlace,
  known: readonly KnownWorkspace[],
  { all = false, older_than }: Input,
): Promise<readonly KnownWorkspace[]> {
  const now = place.clock.now();
  if (all) return known;
  if (older_than === undefined)
    return known.filter((one) => (toWorkspace(one, null).cleanup_at ?? toIso(now + 1)) <= toIso(now));
  const before = toIso(now - toDurationMs(older_than));
  const old: KnownWorkspace[] = [];
  for (const one of known) if ((await findLastWork(place, one)) < before) old.push(one);
  return old;
}

/** When something was last done in it, as far as Forge knows. */
async function findLastWork({ store }: WorkPlace, known: KnownWorkspace): Promise<string> {
  if ('own' in known) return known.own.created_at;
  const { id, created_at, finished_at } = known.attempt;
  const runs = await store.listRuns({ attempt_id: id });
  const times = runs.flatMap((run) => [run.created_at, run.ended_at ?? '']);
  return [created_at, finished_at ?? '', ...times].reduce((last, time) => (time > last ? time : last));
}

async function clean(place: WorkPlace, known: KnownWorkspace, { removed, kept }: Cleaned): Promise<void> {
  const { attempt_id, task_id, path }: Workspace = toWorkspace(known, null);
  if (known.busy) {
    kept.push({ attempt_id, path, why: 'a run is at work in it' });
    return;
  }
  try {
    const { rescue } =
      'own' in known
        ? await removeOwnCheckout(await openControl(place), known.own)
        : await removeWorkspace(place, known.attempt);
    removed.push({ attempt_id, task_id, path, rescued: rescue ? [rescue.ref, ...rescue.more] : [] });
  } catch (error) {
    // One that somebody has put something else at the place of must not keep the others.
    if (!isForgeError(error)) throw error;
    kept.push({ attempt_id, path, why: error.message });
  }
}
