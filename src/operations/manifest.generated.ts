// Generated from src/contract by scripts/generate.ts: change the declarations and run npm run generate.
import type { AnyOperation } from './flag-table.ts';

export const MANIFEST: Readonly<Record<string, () => Promise<AnyOperation>>> = {
  'project.init': () => import('./project-init.ts').then((module) => module.projectInit),
  'task.create': () => import('./task-create.ts').then((module) => module.taskCreate),
  'task.show': () => import('./task-show.ts').then((module) => module.taskShow),
  'task.update': () => import('./task-update.ts').then((module) => module.taskUpdate),
  'task.close': () => import('./task-close.ts').then((module) => module.taskClose),
  'task.reopen': () => import('./task-reopen.ts').then((module) => module.taskReopen),
  'task.claim': () => import('./task-claim.ts').then((module) => module.taskClaim),
  'task.release': () => import('./task-release.ts').then((module) => module.taskRelease),
  'task.comment': () => import('./task-comment.ts').then((module) => module.taskComment),
  'task.history': () => import('./task-history.ts').then((module) => module.taskHistory),
  'task.list': () => import('./task-list.ts').then((module) => module.taskList),
  'task.delete': () => import('./task-delete.ts').then((module) => module.taskDelete),
  'task.restore': () => import('./task-restore.ts').then((module) => module.taskRestore),
  'task.ready': () => import('./task-ready.ts').then((module) => module.taskReady),
  'task.blocked': () => import('./task-blocked.ts').then((module) => module.taskBlocked),
  'task.search': () => import('./task-search.ts').then((module) => module.taskSearch),
  'dep.add': () => import('./dep-add.ts').then((module) => module.depAdd),
  'dep.remove': () => import('./dep-remove.ts').then((module) => module.depRemove),
  'dep.tree': () => import('./dep-tree.ts').then((module) => module.depTree),
  'project.graph': () => import('./project-graph.ts').then((module) => module.projectGraph),
  'project.stats': () => import('./project-stats.ts').then((module) => module.projectStats),
  'shell.completion': () => import('./shell-completion.ts').then((module) => module.shellCompletion),
  'project.demo': () => import('./project-demo.ts').then((module) => module.projectDemo),
};
