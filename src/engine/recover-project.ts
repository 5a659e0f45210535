import { openControl } from './attempt-workspace.ts';
import { makeRoom } from './keep-room.ts';
import { settleSilent } from './recover-work.ts';
import { resumeTasks, type ResumedTask, type ResumeWishes } from './resume-tasks.ts';
import { retryPostponed } from './retry-postponed.ts';
import { removeOverdue } from './retire-attempts.ts';
import { sweepFolders } from './sweep-folders.ts';
import { lookForStrays } from './watch-strays.ts';
import type { Workshop } from './workshop.ts';

/** At the start of whoever stays: everything that others left when they were killed. */
export async function recoverProject(workshop: Workshop, wishes?: ResumeWishes): Promise<ResumedTask[]> {
  const resumed = await watchOver(workshop, wishes);
  await sweepFolders(workshop.place);
  await removeOverdue(workshop.place, (task) => workshop.isAtWork(task));
  return resumed;
}

/** Now and then: too many worktrees of attempts that are over, or more than the disk is to hold. */
export async function keepRoom(workshop: Workshop): Promise<void> {
  const { place } = workshop;
  await makeRoom(place, await openControl(place), (task) => workshop.isAtWork(task));
}

/** Again and again as long as it stays: cheap where nothing is lost. */
export async function watchOver(workshop: Workshop, wishes?: ResumeWishes): Promise<ResumedTask[]> {
  await lookForStrays(workshop.place);
  // Nobody waits for a server far away; what it answers is noted and told.
  workshop.pushAside();
  await settleSilent(workshop.place, (task) => workshop.isAtWork(task));
  const resumed = await resumeTasks(workshop, wishes);
  await retryPostponed(workshop);
  return resumed;
}
