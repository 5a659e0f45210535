import { existsSync } from 'node:fs';
import type { Attempt, Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import type { GateHolder } from '#domain/decide-review.ts';
import { askGit } from '#git/ask-git.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Writer } from '#store/store.ts';
import { findCommandScripts } from '#sync/command-scripts.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';
import { readSpentAudits } from './read-spent-audits.ts';
import type { WorkPlace } from './work.ts';

/** What decides how the work of this project is judged, wherever the project has it. */
const GATE_FILES = [
  '.forge/config.json',
  '.forge/workflow.json',
  '.forge/tasks.jsonl',
  '.forge/history.jsonl',
];

/** Everything that a review runs in the attempt's folder. */
export function listReviewCommands({ settings }: Pick<WorkPlace, 'settings'>, task: Task): readonly string[] {
  const { workspace, review } = settings();
  return [...workspace.setup, ...(task.review_config?.ci_steps ?? review.ci_steps)];
}

/** Of the scripts that a review would run in the attempt's folder those that no person has allowed as they are there. */
export async function listUnread(
  { trust, ...place }: Pick<WorkPlace, 'trust' | 'settings'>,
  { path }: Pick<Attempt, 'path'>,
  task: Task,
): Promise<readonly string[]> {
  if (!existsSync(path)) return [];
  const refused = await trust.list(listReviewCommands(place, task), path);
  return [...new Set(refused.flatMap(({ command, scripts }) => (scripts.length > 0 ? scripts : [command])))];
}

/**
 * The files by which work is judged that the attempt itself changes: the settings of the project, its workflow, its
 * tasks, and the scripts that its set-up and its checks run. What came from the target is the target's, if a person has
 * allowed it to run.
 */
export async function findGateChanges(
  place: WorkPlace,
  attempt: Pick<Attempt, 'base_commit' | 'head_commit' | 'target' | 'path'>,
  task: Task,
): Promise<readonly string[]> {
  const { base_commit, head_commit, target } = attempt;
  if (head_commit === null || head_commit === base_commit) return [];
  const { root } = place.project;
  const found = await Promise.all(
    listReviewCommands(place, task).map((command) => findCommandScripts(command, { root })),
  );
  const scripts = found.flat().flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
  const paths = [...new Set([...GATE_FILES, ...scripts])];
  const [base, head, tip] = await Promise.all(
    [base_commit, head_commit, `refs/heads/${target}`].map((commit) => readEntries(place, commit, paths)),
  );
  const changed = paths.filter((path) => {
    const now = head?.get(path);
    return now !== base?.get(path) && now !== tip?.get(path);
  });
  return [...new Set([...changed, ...(await listUnread(place, attempt, task))])];
}

/** The same of every unfinished attempt of the task. */
export async function listGateChanges(place: WorkPlace, task: Task): Promise<readonly string[]> {
  const attempts = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  const found = await Promise.all(attempts.map((attempt) => findGateChanges(place, attempt, task)));
  return [...new Set(found.flat())];
}

/** What a review that ran no check found, so that a person's yes is for that and for nothing else. */
export async function noteUnread(
  place: WorkPlace,
  {
    attempt,
    task,
    review,
    unread,
  }: {
    readonly attempt: Attempt;
    readonly task: Task;
    readonly review: Review;
    readonly unread: readonly string[];
  },
): Promise<void> {
  if (unread.length === 0 && readFolderNote(place, attempt.id).unread === null) return;
  const note =
    unread.length === 0
      ? null
      : {
          review_id: review.id,
          fingerprint: await place.trust.fingerprint(listReviewCommands(place, task), attempt.path),
        };
  changeFolderNote(place, attempt.id, { unread: note });
}

/** What a verdict has to do with the files by which work is judged. */
export interface Gates {
  readonly listChanges: (task: Task) => Promise<readonly string[]>;
  /** Why its auditor is not asked any more. */
  readonly findSpentAudits: (task: Task, holder: GateHolder) => Promise<string | undefined>;
  /** A person passes the review: what it would have run may run. Throws state_invalid where that has changed since. */
  readonly allow: (task: Task, review: Review, by: Writer) => Promise<void>;
}

export function openGates(place: WorkPlace): Gates {
  return {
    listChanges: (task) => listGateChanges(place, task),
    async findSpentAudits({ id }, holder) {
      const attempt = (await place.store.listAttempts({ task_id: id, state: 'active' })).at(-1);
      return attempt && readSpentAudits(place, attempt, holder);
    },
    async allow(task, { id, attempt_id }, by) {
      if (attempt_id === null) return;
      const { unread } = readFolderNote(place, attempt_id);
      if (unread?.review_id !== id) return;
      const { path } = await place.store.getAttempt(attempt_id);
      const commands = listReviewCommands(place, task);
      if ((await place.trust.fingerprint(commands, path)) !== unread.fingerprint) {
        throw new ForgeError(
          'state_invalid',
          `What the checks of ${task.id} would run has changed since its review`,
          {
            hint: `forge task transition ${task.id} in_progress, then forge run ${task.id}`,
            details: { id: task.id, review: id },
          },
        );
      }
      await place.trust.allow(commands, path, { now: by.now, by: toTriggeredBy(by.actor) });
    },
  };
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
