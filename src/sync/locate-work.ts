import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { findRepository } from '#git/find-repository.ts';
import { getAttempt } from './attempt-project.ts';
import { findProject, type FoundProject } from './find-project.ts';
import type { HomePlace } from './forge-home.ts';

/** What a folder is part of, by file reads alone. */
export interface LocatedWork {
  readonly found: FoundProject;
  /** Top folder of the working tree around. */
  readonly worktree: string;
  /** Of the attempt whose checkout it is. */
  readonly attempt_id: string | undefined;
  /** Where HEAD is; undefined where it is on none. */
  readonly branch: string | undefined;
}

/** Throws not_a_project outside of every project, and in a checkout that no project has made. */
export function locateWork(folder: string, { env, homeDir }: HomePlace): LocatedWork {
  const found = findProject(folder, env, homeDir);
  const around = findRepository(folder);
  const worktree = around?.worktree ?? found.paths.root;
  const branch = around === undefined ? undefined : readBranch(around.git_dir);
  if (around?.attempt === undefined) return { found, worktree, attempt_id: undefined, branch };
  const { checkout } = getAttempt(around, around.attempt).record;
  // The folder of a review is another one than that of the attempt it looks at.
  return { found, worktree, attempt_id: checkout.facts['attempt'] ?? checkout.attempt_id, branch };
}

function readBranch(gitDir: string): string | undefined {
  const head = readPlainFile(join(gitDir, 'HEAD'))?.toString('utf8') ?? '';
  return /^ref: refs\/heads\/(.+)$/.exec(head.trimEnd())?.[1];
}
