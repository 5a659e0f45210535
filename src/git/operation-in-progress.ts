import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from './read-plain-file.ts';

export interface OperationInProgress {
  readonly name: 'merge' | 'rebase' | 'am' | 'cherry-pick' | 'revert' | 'bisect';
  /** The command that goes on with it. */
  readonly go_on: string;
  /** The command that gives it up. */
  readonly give_up: string;
}

/**
 * What git is in the middle of in this working tree, by file reads alone: the files that `git status` looks at.
 * A rebase comes first, because a stopped one also has the files of the step that it stopped in. In a repository
 * with reftables a single cherry-pick or revert leaves no file and is not seen.
 */
export function findOperationInProgress(gitDir: string): OperationInProgress | undefined {
  const has = (name: string) => existsSync(join(gitDir, name));
  if (has('rebase-merge')) return toOperation('rebase');
  if (has('rebase-apply')) return toOperation(has('rebase-apply/applying') ? 'am' : 'rebase');
  if (has('MERGE_HEAD')) return toOperation('merge');
  if (has('CHERRY_PICK_HEAD')) return toOperation('cherry-pick');
  if (has('REVERT_HEAD')) return toOperation('revert');
  if (has('sequencer/todo')) return toOperation(readSequence(join(gitDir, 'sequencer/todo')));
  if (!has('BISECT_START')) return undefined;
  return { name: 'bisect', go_on: 'git bisect good, or git bisect bad', give_up: 'git bisect reset' };
}

function toOperation(name: 'merge' | 'rebase' | 'am' | 'cherry-pick' | 'revert'): OperationInProgress {
  return { name, go_on: `git ${name} --continue`, give_up: `git ${name} --abort` };
}

/** Between two steps of a longer one there is only the list of what is left. */
function readSequence(todo: string): 'cherry-pick' | 'revert' {
  return /^revert\b/m.test(readPlainFile(todo)?.toString('utf8') ?? '') ? 'revert' : 'cherry-pick';
}
