import type { Declaration } from './declare.ts';
import { addDependency, dependencyTree, removeDependency, taskGraph } from './graph-operations.ts';
import { completionScript, initProject, runDemo } from './project-operations.ts';
import { blockedTasks, listTasks, projectStats, readyTasks, searchTasks } from './query-operations.ts';
import {
  claimTask,
  closeTask,
  commentTask,
  createTask,
  deleteTask,
  releaseTask,
  reopenTask,
  restoreTask,
  showTask,
  taskHistory,
  updateTask,
} from './task-operations.ts';

/** Every operation, in the order of the help and of the reference. */
export const OPERATIONS: readonly Declaration[] = [
  initProject,
  createTask,
  showTask,
  updateTask,
  closeTask,
  reopenTask,
  claimTask,
  releaseTask,
  commentTask,
  taskHistory,
  listTasks,
  deleteTask,
  restoreTask,
  readyTasks,
  blockedTasks,
  searchTasks,
  addDependency,
  removeDependency,
  dependencyTree,
  taskGraph,
  projectStats,
  completionScript,
  runDemo,
];
