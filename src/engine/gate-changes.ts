import { existsSync } from 'node:fs';
import type { Attempt, Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import type { GateHolder } from '#domain/decide-review.ts';
import { askOnce } from '#git/ask-once.ts';
import { readRef } from '#git/read-ref.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine, nameFirst } from '#kernel/text.ts';
import type { Writer } from '#store/store.ts';
import { findCommandScripts } from '#sync/command-scripts.ts';
import type { UntrustedCommand } from '#sync/trust.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { findWorkBase } from './find-work-base.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';
import { listUnseen } from './list-unseen.ts';
import { lookAtCommit } from './look-at-commit.ts';
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

/** An attempt as far as its files are judged. */
type Judged = Pick<Attempt, 'id' | 'task_id' | 'path' | 'base_commit' | 'head_commit'>;

/** Of the scripts that a review would run those that no person has allowed as they are there. */
export async function listUnread(place: WorkPlace, attempt: Judged, task: Task): Promise<readonly string[]> {
  const commands = listReviewCommands(place, task);
  const list = async (folder: string): Promise<readonly string[]> => {
    const refused = await place.trust.list(commands, folder);
    return [
      ...new Set(refused.flatMap(({ command, scripts }) => (scripts.length > 0 ? scripts : [command]))),
    ];
  };
  // What is refused right before it runs needs no look here; this one is for the sentence that asks a person.
  if (!existsSync(attempt.path) || (await list(attempt.path)).length === 0) return [];
  return redactNames(place, task, await inJudgedFolder(place, attempt, list));
}

/** Names of an agent's files become a part of what the task says. */
async function redactNames(place: WorkPlace, { id }: Task, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { redact } = await findSecretsOf(place, { task_id: id, agent: null });
  return names.map(redact);
}

/** Where the checks find what they run: in the commit alone, or in the agent's worktree as a person has set it. */
function inJudgedFolder<T>(
  place: WorkPlace,
  attempt: Judged,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  if (!place.settings().review.fresh) return work(attempt.path);
  return lookAtCommit(place, { attempt, commit: attempt.head_commit ?? attempt.base_commit }, work);
}

/**
 * The files by which work is judged that the attempt itself changes: the settings of the project, its workflow, its
 * tasks, the scripts that its set-up and its checks run, and what could decide them unseen. What a merge of the target
 * brought is the target's, if a person has allowed it to run.
 */
export async function findGateChanges(
  place: WorkPlace,
  attempt: Judged & Pick<Attempt, 'target'>,
  task: Task,
): Promise<readonly string[]> {
  const { base_commit, head_commit, target } = attempt;
  if (head_commit === null || head_commit === base_commit) return [];
  const { root } = place.project;
  const found = await Promise.all(
    listReviewCommands(place, task).map((command) => findCommandScripts(command, { root })),
  );
  const scripts = found.flat().flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
  const shared = await findWorkBase(place.repo, attempt);
  const unseen = await listUnseen(place, { base_commit: shared, head_commit });
  const paths = [...new Set([...GATE_FILES, ...scripts, ...unseen])];
  const branch = `refs/heads/${target}`;
  const there = (await readRef(place.repo, branch)) ?? branch;
  const [base, head, tip] = await Promise.all(
    [shared, head_commit, there].map((commit) => readEntries(place, commit, paths)),
  );
  const changed = paths.filter((path) => {
    const now = head?.get(path);
    return now !== base?.get(path) && now !== tip?.get(path);
  });
  const named = await redactNames(place, task, changed);
  return [...new Set([...named, ...(await listUnread(place, attempt, task))])];
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
          fingerprint: await inJudgedFolder(place, attempt, (folder) =>
            place.trust.fingerprint(listReviewCommands(place, task), folder),
          ),
        };
  changeFolderNote(place, attempt.id, { unread: note });
}

/** What a verdict has to do with the files by which work is judged. */
export interface Gates {
  readonly listChanges: (task: Task) => Promise<readonly string[]>;
  /** Why its auditor is not asked any more. */
  readonly findSpentAudits: (task: Task, holder: GateHolder) => Promise<string | undefined>;
  /**
   * A person passes the review: what it would have run may run. Throws state_invalid where that has changed since, and
   * permission_denied where the caller may not allow what no person has allowed.
   */
  readonly allow: (task: Task, review: Review, by: Writer) => Promise<void>;
}

/** `may_allow`: whether the caller may say what runs here, as `project.trust` does. */
export function openGates(place: WorkPlace, { may_allow }: { readonly may_allow: boolean }): Gates {
  return {
    listChanges: (task) => listGateChanges(place, task),
    async findSpentAudits({ id }, holder) {
      const attempt = (await place.store.listAttempts({ task_id: id, state: 'active' })).at(-1);
      return attempt && readSpentAudits(place, attempt, holder);
    },
    async allow(task, { id, attempt_id, head_commit }, by) {
      if (attempt_id === null) return;
      const { unread } = readFolderNote(place, attempt_id);
      if (unread?.review_id !== id) return;
      const attempt = await place.store.getAttempt(attempt_id);
      const commands = listReviewCommands(place, task);
      await inJudgedFolder(place, { ...attempt, head_commit }, async (folder) => {
        if ((await place.trust.fingerprint(commands, folder)) !== unread.fingerprint)
          throw changedSince(task, id);
        const refused = await place.trust.list(commands, folder);
        if (refused.length === 0) return;
        if (!may_allow) throw mayNotAllow(task, refused);
        await place.trust.allow(commands, folder, { now: by.now, by: toTriggeredBy(by.actor) });
      });
    },
  };
}

function mayNotAllow({ id }: Task, refused: readonly UntrustedCommand[]): ForgeError {
  const names = [...new Set(refused.flatMap(({ command, scripts }) => [command, ...scripts]))];
  const shown = escapeLine(nameFirst(names));
  return new ForgeError(
    'permission_denied',
    `The review of ${id}: a pass would allow what no person has allowed to run (${shown}); that needs a token with the scope admin`,
    {
      hint: 'forge token create --scope admin',
      details: { id, needed: 'admin', commands: refused.map(({ command }) => command) },
    },
  );
}

function changedSince({ id }: Task, review: string): ForgeError {
  return new ForgeError('state_invalid', `What the checks of ${id} would run has changed since its review`, {
    hint: `forge task transition ${id} in_progress, then forge run ${id}`,
    details: { id, review },
  });
}

/** Mode and blob of each path; nothing of a commit that is not there. */
async function readEntries(
  { repo }: Pick<WorkPlace, 'repo'>,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const literal = paths.map((path) => `:(literal)${path}`);
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...literal];
  const { stdout } = await askOnce(repo, [commit], args);
  const lines = stdout
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '');
  return new Map(
    lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))]),
  );
}
