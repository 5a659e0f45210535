import type { Attempt, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { askGit } from '#git/ask-git.ts';
import type { Checkout } from '#git/checkout-record.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { replaceFile } from '#git/replace-file.ts';
import { escapeLine } from '#kernel/text.ts';
import { findWish } from '#sync/find-wish.ts';
import { makeWayTo, readInside } from './inside-folder.ts';
import type { WorkPlace } from './work.ts';

export interface Linked {
  readonly attempt: Attempt;
  readonly task: Task;
  readonly run?: Run | undefined;
}

/** A pattern of git's own for the link file alone; nothing where the settings name none. */
export function listLinkPatterns({ settings }: Pick<WorkPlace, 'settings'>): readonly string[] {
  const { linkFile } = settings().workspace;
  return linkFile === undefined ? [] : [`/${linkFile.replaceAll(/[\\*?[\]! #]/g, String.raw`\$&`)}`];
}

/** A file that the repository has is the project's own: it is told of the work with the first commit, not before. */
export async function isLinkTracked(
  { settings }: Pick<WorkPlace, 'settings'>,
  control: ControlGit,
  { base }: Pick<Checkout, 'base'>,
): Promise<boolean> {
  const { linkFile } = settings().workspace;
  if (linkFile === undefined) return false;
  return (await askGit(control, ['cat-file', '-e', `${base}:${linkFile}`])).exit === 0;
}

/**
 * Writes into the file that `workspace.linkFile` names which task, attempt, wish and issue the folder is for. What else
 * stands in the file stays. False where nothing had to be written, or something stands in the way.
 */
export function writeLinkFile(place: Pick<WorkPlace, 'settings' | 'project'>, linked: Linked): boolean {
  const { linkFile } = place.settings().workspace;
  const { attempt } = linked;
  const path = linkFile === undefined ? undefined : makeWayTo(attempt.path, linkFile);
  if (linkFile === undefined || path === undefined) return false;
  const before = readInside(attempt.path, linkFile)?.toString('utf8') ?? '';
  const after = putBlock(before, attempt.id, describeLink(place, linked));
  if (after === before) return false;
  replaceFile(path, after);
  return true;
}

/** One block an attempt, so that those of others that a merge brings stay as they are. */
function putBlock(text: string, attemptId: string, lines: readonly string[]): string {
  const first = `<!-- forge ${attemptId} -->`;
  const block = `${[first, ...lines, LAST].join('\n')}\n`;
  const from = text.indexOf(first);
  const to = from < 0 ? -1 : text.indexOf(`${LAST}\n`, from);
  if (to >= 0) return text.slice(0, from) + block + text.slice(to + LAST.length + 1);
  const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  return text + gap + block;
}

const LAST = '<!-- /forge -->';

function describeLink(
  { project }: Pick<WorkPlace, 'project'>,
  { attempt, task, run }: Linked,
): readonly string[] {
  const wish = findWish([attempt.path, project.root], { name: attempt.name, title: task.title });
  const issue = task.github_issue ?? wish?.github_issue;
  return [
    `- Task: ${task.id}`,
    `- Attempt: ${attempt.id}`,
    ...(run === undefined ? [] : [`- Run: ${run.id}`]),
    `- Branch: ${attempt.branch}`,
    ...(wish === undefined ? [] : [`- Wish: ${escapeLine(wish.slug).replaceAll(/[<>]/g, '')}`]),
    ...(issue === undefined ? [] : [`- GitHub issue: #${issue}`]),
  ];
}
