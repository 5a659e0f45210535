import type { GitRepo } from '#git/ask-git.ts';
import { findMergeBase } from '#git/merge-base.ts';
import { readBlob } from '#git/read-blob.ts';
import { validateWorkflowText } from '#domain/validate-workflow-text.ts';
import { isForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import { findWorkflow, WORKFLOW_PATH, type WorkflowPaths, writeWorkflow } from './workflow-file.ts';

export interface WorkflowExchange {
  /**
   * `same`: nothing to do; `sent`: this clone's goes out; `taken`: the remote's is now this clone's; `conflict`: both
   * were changed, and this clone's stands; `broken_here`, `broken_there`: one is no workflow, and stays where it is.
   */
  readonly outcome: 'same' | 'sent' | 'taken' | 'conflict' | 'broken_here' | 'broken_there';
  /** The version that does not stand, as git names it: `4f1c09a:.forge/workflow.json`. */
  readonly other: string | null;
}

type Joined = WorkflowExchange & {
  /** What the data branch shall have; undefined: as it is. */
  readonly text: string | undefined;
};

/**
 * The workflow that the data branch shall have. It is one definition: parts of two put together are a third that nobody
 * has drawn, so it is taken whole. Who changed it since both sides were the same has it; where both did, this clone's
 * stands, because whoever syncs last can see and settle it. Every version that took part is in the branch's history.
 * `paths` are those of the workflow that counts here (`findGatePaths`).
 */
export async function joinWorkflows(
  paths: WorkflowPaths,
  repo: GitRepo,
  { theirs, ours }: { readonly theirs: string | undefined; readonly ours: string | undefined },
): Promise<Joined> {
  const { text: mine, broken } = readOwn(paths);
  const remote = await readAt(repo, theirs);
  if (broken) return { outcome: 'broken_here', other: null, text: undefined };
  if (remote === undefined || theirs === undefined)
    return send(mine, mine === undefined ? undefined : await readAt(repo, ours));
  if (mine !== undefined && isSame(mine, remote)) return { outcome: 'same', other: null, text: remote };
  const root = await findMergeBase(repo, ours, theirs);
  const base = await readAt(repo, root);
  if (mine !== undefined && base !== undefined && isSame(base, remote)) return send(mine, undefined);
  const known = mine !== undefined && base !== undefined && isSame(base, mine) ? root : undefined;
  if (mine !== undefined && known === undefined)
    return { outcome: 'conflict', other: nameVersion(theirs), text: mine };
  if (isBroken(remote)) return { outcome: 'broken_there', other: nameVersion(theirs), text: remote };
  writeWorkflow(paths, remote);
  return { outcome: 'taken', other: known === undefined ? null : nameVersion(known), text: remote };
}

/** For a commit of this clone alone; undefined where it has none to add. */
export function readWorkflowToCommit(paths: WorkflowPaths): string | undefined {
  return readOwn(paths).text;
}

/** A clone that has none takes what a commit has. Idempotent, and quiet where there is nothing to take. */
export async function adoptWorkflow(paths: WorkflowPaths, repo: GitRepo, rev: string): Promise<void> {
  const mine = readOwn(paths);
  if (mine.broken || mine.text !== undefined) return;
  const text = await readAt(repo, rev);
  if (text !== undefined && !isBroken(text)) writeWorkflow(paths, text);
}

function send(mine: string | undefined, committed: string | undefined): Joined {
  if (mine === undefined) return { outcome: 'same', other: null, text: undefined };
  return { outcome: mine === committed ? 'same' : 'sent', other: null, text: mine };
}

/** Without a text where there is none, or where it is none that could go out. */
function readOwn(paths: WorkflowPaths): { readonly text: string | undefined; readonly broken: boolean } {
  try {
    const { source, text } = findWorkflow(paths);
    if (source === 'default') return { text: undefined, broken: false };
    return isBroken(text) ? BROKEN : { text, broken: false };
  } catch (error) {
    if (isForgeError(error) && error.code === 'invalid_input') return BROKEN; // too large, or no file
    throw error;
  }
}

const BROKEN = { text: undefined, broken: true } as const;

async function readAt(repo: GitRepo, rev: string | undefined): Promise<string | undefined> {
  if (rev === undefined) return undefined;
  return (await readBlob(repo, rev, WORKFLOW_PATH))?.toString('utf8');
}

function isBroken(text: string): boolean {
  return validateWorkflowText(text).workflow === undefined;
}

/** How it is written does not matter. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(readJson(a)) === JSON.stringify(readJson(b));
  } catch {
    return false;
  }
}

function nameVersion(rev: string): string {
  return `${rev.slice(0, 12)}:${WORKFLOW_PATH}`;
}
