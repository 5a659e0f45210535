import { join } from 'node:path';
import type { ProjectPaths } from './project-paths.ts';

/** The files that travel. */
export interface TaskFiles {
  readonly tasks: string;
  readonly history: string;
  /** The folder of copies of files that were not taken in whole. */
  readonly copies: string;
}

export const TASKS_PATH = '.forge/tasks.jsonl';
export const HISTORY_PATH = '.forge/history.jsonl';
export const CONFIG_PATH = '.forge/config.json';

export function toTaskFiles({
  forge_dir,
  store_dir,
}: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>): TaskFiles {
  const [tasks, history] = ['tasks.jsonl', 'history.jsonl'].map((name) => join(forge_dir, name)) as [
    string,
    string,
  ];
  return { tasks, history, copies: store_dir };
}

/** What stands for the path of a file where the file is a commit's. */
export const BRANCH_KEY = `git:${TASKS_PATH}`;
