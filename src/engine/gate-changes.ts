import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { askGit } from '#git/ask-git.ts';
import { findCommandScripts } from '#sync/command-scripts.ts';
import type { WorkPlace } from './work.ts';

/** What decides how the work of this project is judged, wherever the project has it. */
const GATE_FILES = [
  '.forge/config.json',
  '.forge/workflow.json',
  '.forge/tasks.jsonl',
  '.forge/history.jsonl',
];

/**
 * The files by which work is judged that the attempt itself changes: the settings of the project, its workflow, its
 * tasks, and the scripts that its checks run. What came from the target is the target's.
 */
export async function findGateChanges(
  place: WorkPlace,
  { base_commit, head_commit, target }: Pick<Attempt, 'base_commit' | 'head_commit' | 'target'>,
  task: Task,
): Promise<readonly string[]> {
  if (head_commit === null || head_commit === base_commit) return [];
  const { settings, project } = place;
  const steps = task.review_config?.ci_steps ?? settings().review.ci_steps;
  const scripts = steps.flatMap((step) => findCommandScripts(step, project.root).map(({ path }) => path));
  const paths = [...new Set([...GATE_FILES, ...scripts])];
  const [base, head, tip] = await Promise.all(
    [base_commit, head_commit, `refs/heads/${target}`].map((commit) => readEntries(place, commit, paths)),
  );
  return paths.filter((path) => {
    const now = head?.get(path);
    return now !== base?.get(path) && now !== tip?.get(path);
  });
}

/** The same of every unfinished attempt of the task. */
export async function listGateChanges(place: WorkPlace, task: Task): Promise<readonly string[]> {
  const attempts = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  const found = await Promise.all(attempts.map((attempt) => findGateChanges(place, attempt, task)));
  return [...new Set(found.flat())];
}

/** Mode and blob of each path; nothing of a commit that is not there. */
async function readEntries(
  { repo }: Pick<WorkPlace, 'repo'>,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const literal = paths.map((path) => `:(literal)${path}`);
  const { stdout } = await askGit(repo, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...literal]);
  const lines = stdout.split('\0').filter((line) => line !== '');
  return new Map(
    lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))]),
  );
}
