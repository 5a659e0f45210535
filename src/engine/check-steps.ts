import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StepResult } from '#contract/attempt.ts';
import { findClearing } from '#domain/decide-review.ts';
import { suggestSetup } from '#domain/suggest-setup.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { toAttemptEnvironment } from './attempt-environment.ts';
import { type CheckFolder, type FolderRequest, openFreshFolder, openOwnFolder } from './check-folder.ts';
import { findWalls } from './find-walls.ts';
import { readTree } from './read-tree.ts';
import { runSteps } from './run-steps.ts';
import type { WorkPlace } from './work.ts';

export interface Checks extends FolderRequest {
  readonly steps: readonly string[];
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
  const known = await listKnown(place, checks, tree);
  if (checks.steps.every((command) => known.has(command))) return noteKnown(checks, known);
  const { fresh } = place.settings().review;
  await using folder = await (fresh ? openFreshFolder : openOwnFolder)(place, checks);
  // Together with the target it may be another script than the one that was looked at.
  if (checks.head !== undefined)
    await place.trust.require([...place.settings().workspace.setup, ...checks.steps], folder.attempt.path);
  const first = await runPass(place, checks, { tree, known, folder });
  const failed = first.results.find(({ outcome }) => outcome !== 'passed');
  // What a check made of a script is no work of the agent's, and must not become a part of it.
  if (failed?.outcome === 'start_failed' && first.touched.length > 0) await folder.putBack();
  if (first.touched.length === 0 || failed !== undefined) return first.results;
  const again = await runPass(place, checks, { tree, known, folder, because_of: first.touched });
  await folder.putBack();
  return again.results;
}

async function listKnown(
  place: WorkPlace,
  { attempt, steps }: Checks,
  tree: string,
): Promise<ReadonlyMap<string, StepResult>> {
  const after = await readClearing(place, attempt.task_id);
  // Who worked on the task since may have other secrets, and what an older Forge kept was not redacted.
  const { redact } = await findSecretsOf(place, attempt);
  const known = new Map<string, StepResult>();
  for (const command of steps) {
    const found = await place.store.findStep({ tree, command, after });
    if (found !== undefined) known.set(command, { ...found, output: redact(found.output) });
  }
  return known;
}

async function noteKnown(
  { steps, finished }: Checks,
  known: ReadonlyMap<string, StepResult>,
): Promise<StepResult[]> {
  const results = steps.flatMap((command) => known.get(command) ?? []);
  for (const result of results) await finished(result);
  return results;
}

/** From when on results of checks count for this task. */
export async function readClearing({ store }: WorkPlace, taskId: string): Promise<string | undefined> {
  return findClearing(await store.listReviews({ task_id: taskId }));
}

interface Pass {
  readonly tree: string;
  /** What need not run. */
  readonly known: ReadonlyMap<string, StepResult>;
  readonly folder: CheckFolder;
  /** Files that checks had changed the first time: they are put back before every step. */
  readonly because_of?: readonly string[];
}

interface PassEnd {
  readonly results: StepResult[];
  readonly touched: readonly string[];
}

async function runPass(place: WorkPlace, checks: Checks, pass: Pass): Promise<PassEnd> {
  const { steps, review_id, finished } = checks;
  const { tree, known, folder, because_of } = pass;
  const { redact } = await findSecretsOf(place, checks.attempt);
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
    const unready = await folder.setUp();
    if (unready !== undefined) return end(unready);
    if (because_of !== undefined) await folder.putBack();
    const ran = await runTrusted(place, folder, command);
    const told = tellAgain(await tellSetupMissing(place, checks, ran), because_of);
    // It names files now.
    const result = { ...told, output: redact(told.output) };
    if (result.outcome !== 'passed') return end(result);
    // From the first change on there is nothing more to find out: all of it is run again.
    if (because_of === undefined && touched.length === 0) touched = await folder.listTouched();
    if (touched.length === 0)
      await place.store.keepStep({ tree, command, result, review_id, now: place.clock.now() });
    await end(result);
  }
  return { results, touched };
}

/**
 * A check that fails beside the commit alone may need what the project does not say how to make: packages that the agent
 * has installed. Then it passes in the attempt's own folder. It does not count as passed by that, because the agent may
 * have left there what it likes; but neither is it the agent's fault.
 */
async function tellSetupMissing(place: WorkPlace, checks: Checks, failed: StepResult): Promise<StepResult> {
  const { review, workspace } = place.settings();
  const isOpen = review.fresh && workspace.setup.length === 0 && checks.head === undefined;
  if (!isOpen || failed.outcome !== 'failed') return failed;
  // What the check makes there does not become a part of the agent's work.
  await using own = await openOwnFolder(place, { ...checks, head: checks.commit });
  const left = await own.listUntracked();
  if (left.length === 0) return failed;
  const there = await runTrusted(place, own, failed.command);
  if (there.outcome !== 'passed') return failed;
  const setup = suggestSetup((file) => existsSync(join(place.project.root, file)))?.command ?? 'npm ci';
  const why =
    `\`${escapeLine(failed.command)}\` fails on the commit alone, and passes beside what git does not carry in the worktree ` +
    `(${nameFiles(left)}). Say in .forge/config.json how that is made, {"workspace": {"setup": ["${setup}"]}} or the like, ` +
    `then \`forge review ${checks.attempt.task_id} pass\`: the checks run before the merge. ` +
    `{"review": {"fresh": false}} lets what the agent leaves there decide`;
  return { ...failed, outcome: 'setup_missing', output: `${why}\n${failed.output}` };
}

/** A script that an earlier check has made another one is not what a person has allowed. */
async function runTrusted(
  place: WorkPlace,
  { attempt, caches }: CheckFolder,
  command: string,
): Promise<StepResult> {
  const [refused] = await place.trust.list([command], attempt.path);
  if (refused !== undefined) return refuseStep(command, refused.scripts);
  const { review } = place.settings();
  const env = toAttemptEnvironment(place, attempt, { CI: 'true' });
  const [result] = await runSteps([command], {
    cwd: attempt.path,
    env,
    walls: await findWalls(place, { cwd: attempt.path, env, caches }),
    host: await place.processes(),
    marker: `${attempt.id}-check`,
    timeout_ms: review.step_timeout_s * 1000,
    output_bytes: review.step_output_bytes,
    secrets: await findSecretsOf(place, attempt),
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
