import type { Attempt, StepResult } from '#contract/attempt.ts';
import { findClearing } from '#domain/decide-review.ts';
import { listTouched, putBack, removeUntracked } from '#git/put-back.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { toAttemptEnvironment } from './attempt-environment.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import { findWalls } from './find-walls.ts';
import { changeFolderNote } from './folder-note.ts';
import { furnishFolder } from './furnish-folder.ts';
import { readTree } from './read-tree.ts';
import { runSteps } from './run-steps.ts';
import { setUpForChecks } from './set-up-folder.ts';
import type { WorkPlace } from './work.ts';

export interface Checks {
  readonly attempt: Attempt;
  readonly steps: readonly string[];
  readonly commit: string;
  /** Null where it is a merge that checks. */
  readonly review_id: string | null;
  readonly finished: (result: StepResult) => Promise<void>;
}

/**
 * Runs the checks on the files of a commit, one after the other until one fails. The same tree need not be tested twice,
 * whichever commit it stands in, unless the work was given to another agent since.
 *
 * Checks run what an agent has written, in one folder: an earlier one may change what a later one looks at. So each is
 * held against trust again right before it runs; and where a check has changed tracked files, what has passed counts
 * for nothing until every check has passed once more, each on files that were put back right before it.
 */
export async function runReviewSteps(place: WorkPlace, checks: Checks): Promise<StepResult[]> {
  if (checks.steps.length === 0) return [];
  const tree = await readTree(place, checks.commit);
  const after = await readClearing(place, checks.attempt.task_id);
  const known = new Map<string, StepResult>();
  for (const command of checks.steps) {
    const found = await place.store.findStep({ tree, command, after });
    if (found !== undefined) known.set(command, found);
  }
  const folder = await openCheckedFolder(place, checks);
  const isRunning = checks.steps.some((command) => !known.has(command));
  if (isRunning && place.settings().review.fresh) await folder.clear();
  const first = await runPass(place, checks, { tree, known, folder });
  const failed = first.results.find(({ outcome }) => outcome !== 'passed');
  // What a check made of a script is no work of the agent's, and must not become a part of it.
  if (failed?.outcome === 'start_failed' && first.touched.length > 0) await folder.putBack();
  if (first.touched.length === 0 || failed !== undefined) return first.results;
  const again = await runPass(place, checks, { tree, known, folder, because_of: first.touched });
  await folder.putBack();
  return again.results;
}

/** From when on results of checks count for this task. */
export async function readClearing({ store }: WorkPlace, taskId: string): Promise<string | undefined> {
  return findClearing(await store.listReviews({ task_id: taskId }));
}

interface CheckedFolder {
  readonly listTouched: () => Promise<readonly string[]>;
  readonly putBack: () => Promise<void>;
  /** As if the attempt had just been made with this commit. */
  readonly clear: () => Promise<void>;
}

async function openCheckedFolder(place: WorkPlace, { attempt, commit }: Checks): Promise<CheckedFolder> {
  const control = await openControl(place);
  const checkout = toCheckout(place, control, attempt);
  return {
    listTouched: () => listTouched(control, checkout, commit),
    putBack: () => putBack(control, checkout, commit),
    async clear() {
      changeFolderNote(place, attempt.id, { setup: null });
      await removeUntracked(control, checkout, commit);
      const task = await place.store.getTask(attempt.task_id);
      await furnishFolder(place, control, { attempt, checkout, task });
    },
  };
}

interface Pass {
  readonly tree: string;
  /** What need not run. */
  readonly known: ReadonlyMap<string, StepResult>;
  readonly folder: CheckedFolder;
  /** Files that checks had changed the first time: they are put back before every step. */
  readonly because_of?: readonly string[];
}

interface PassEnd {
  readonly results: StepResult[];
  readonly touched: readonly string[];
}

async function runPass(place: WorkPlace, checks: Checks, pass: Pass): Promise<PassEnd> {
  const { attempt, steps, review_id, finished } = checks;
  const { tree, known, folder, because_of } = pass;
  const results: StepResult[] = [];
  let touched: readonly string[] = [];
  const end = async (result: StepResult): Promise<PassEnd> => {
    results.push(result);
    await finished(result);
    return { results, touched };
  };
  for (const command of steps) {
    const found = known.get(command);
    if (found !== undefined) {
      if (because_of === undefined) await end(found);
      else results.push(found);
      continue;
    }
    // Another tree may need other packages than those that are there.
    const unready = await setUpForChecks(place, attempt);
    if (unready !== undefined) return end(unready);
    if (because_of !== undefined) await folder.putBack();
    const result = tellAgain(await runTrusted(place, attempt, command), because_of);
    if (result.outcome !== 'passed') return end(result);
    // From the first change on there is nothing more to find out: all of it is run again.
    if (because_of === undefined && touched.length === 0) touched = await folder.listTouched();
    if (touched.length === 0)
      await place.store.keepStep({ tree, command, result, review_id, now: place.clock.now() });
    await end(result);
  }
  return { results, touched };
}

/** A script that an earlier check has made another one is not what a person has allowed. */
async function runTrusted(place: WorkPlace, attempt: Attempt, command: string): Promise<StepResult> {
  const [refused] = await place.trust.list([command], attempt.path);
  if (refused !== undefined) return refuseStep(command, refused.scripts);
  const { review } = place.settings();
  const env = toAttemptEnvironment(place, attempt, { CI: 'true' });
  const [result] = await runSteps([command], {
    cwd: attempt.path,
    env,
    walls: await findWalls(place, { cwd: attempt.path, env }),
    host: await place.processes(),
    marker: `${attempt.id}-check`,
    timeout_ms: review.step_timeout_s * 1000,
    output_bytes: review.step_output_bytes,
    signal: place.signal,
    line: (text) => place.watch({ kind: 'step', task_id: attempt.task_id, attempt_id: attempt.id, text }),
  });
  return result ?? refuseStep(command, []);
}

/** For a check that must not be run. */
export function refuseStep(command: string, unread: readonly string[]): StepResult {
  const what = unread.length === 0 ? 'it' : nameFiles(unread);
  const output = `Not run: the attempt has ${what} in a form that no person has allowed to run`;
  return { command, exit_code: null, duration_ms: 0, output, outcome: 'start_failed' };
}

function tellAgain(result: StepResult, because_of: readonly string[] | undefined): StepResult {
  if (because_of === undefined) return result;
  const why = `Run again, on the files of the commit, because a check had changed ${nameFiles(because_of)}`;
  return { ...result, output: result.output === '' ? why : `${why}\n${result.output}` };
}

function nameFiles(paths: readonly string[]): string {
  const shown = paths.slice(0, LIMITS.attempt_files_named).map(escapeLine);
  const more = paths.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
