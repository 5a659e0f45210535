import { join } from 'node:path';
import type { ProjectPaths } from './project-paths.ts';

/** The files that travel. */
export interface TaskFiles {
  readonly tasks: string;
  readonly history: string;
}

export const TASKS_PATH = '.forge/tasks.jsonl';
export const HISTORY_PATH = '.forge/history.jsonl';
export const CONFIG_PATH = '.forge/config.json';

export function toTaskFiles(paths: Pick<ProjectPaths, 'forge_dir'>): TaskFiles {
  return { tasks: join(paths.forge_dir, 'tasks.jsonl'), history: join(paths.forge_dir, 'history.jsonl') };
}

/** What stands for the path of a file where the file is a commit's. */
export const BRANCH_KEY = `git:${TASKS_PATH}`;
