import type { Attempt, AttemptView, Review } from '#contract/attempt.ts';
import type { Candidate } from '#domain/decide-pick.ts';
import { judgeAttempt } from '#domain/judge-attempt.ts';
import { isPlanning } from '#domain/gate-targets.ts';
import { roleOf, type ResolvedWorkflow } from '#domain/workflow.ts';
import { type FileChange, listChanges } from '#git/list-changes.ts';
import { isForgeError } from '#kernel/errors.ts';
import { findWorkBase } from './find-work-base.ts';
import type { WorkPlace } from './work.ts';

/** An attempt with all that is needed to choose it. */
export interface ViewedAttempt extends Candidate {
  readonly view: AttemptView;
  readonly files: readonly FileChange[];
}

type ViewPlace = Pick<WorkPlace, 'store' | 'repo' | 'workflow'>;

/** The attempts at a task with what became of each, the oldest first. */
export async function viewAttempts(
  place: ViewPlace,
  query: { readonly task_id: string; readonly state?: Attempt['state'] },
): Promise<ViewedAttempt[]> {
  const { store } = place;
  const attempts = await store.listAttempts(query);
  const task_id = attempts[0]?.task_id;
  if (task_id === undefined) return [];
  const [runs, reviews] = await Promise.all([store.listRuns({ task_id }), store.listReviews({ task_id })]);
  const isWork = findWorkRoles(place.workflow());
  return Promise.all(
    attempts.map(async (attempt) => {
      const own = reviews.filter(({ attempt_id }) => attempt_id === attempt.id);
      const work = runs.filter(({ attempt_id, role }) => attempt_id === attempt.id && isWork.has(role));
      const judged = judgeAttempt({ attempt, runs: work, reviews: own });
      const files = await findChanges(place, attempt);
      const view: AttemptView = { ...attempt, ...judged, changes: sumUp(files) };
      return { ...view, view, files: files ?? [], green_at: judged.result === 'green' ? lastEnd(own) : null };
    }),
  );
}

/** Neither those who plan nor those who audit. */
function findWorkRoles(workflow: ResolvedWorkflow): ReadonlySet<string> {
  const roles = [...workflow.states.values()].flatMap(({ name, kind }) =>
    kind === 'active' && !isPlanning(workflow, name) ? [roleOf(workflow, name) ?? ''] : [],
  );
  return new Set(roles);
}

/** Undefined where nothing was harvested, or its commits are not here any more. */
async function findChanges({ repo }: ViewPlace, attempt: Attempt): Promise<FileChange[] | undefined> {
  const { head_commit: head } = attempt;
  if (head === null) return undefined;
  try {
    return await listChanges(repo, { base: await findWorkBase(repo, attempt), head });
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return undefined;
  }
}

function sumUp(files: readonly FileChange[] | undefined): AttemptView['changes'] {
  if (files === undefined) return null;
  const sum = (count: (file: FileChange) => number | null): number =>
    files.reduce((total, file) => total + (count(file) ?? 0), 0);
  return {
    files: files.length,
    insertions: sum(({ insertions }) => insertions),
    deletions: sum(({ deletions }) => deletions),
  };
}

function lastEnd(reviews: readonly Review[]): string | null {
  return reviews.findLast(({ status }) => status === 'passed')?.finished_at ?? null;
}
