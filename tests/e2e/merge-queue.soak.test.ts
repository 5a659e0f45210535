import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ForgeProject } from '../support/forge-cli.ts';
import {
  addPassed,
  endAtStep,
  expectAllMerged,
  listUnmerged,
  queueProject,
  SIGNALS,
  type QueueStep,
} from '../support/merge-queue.ts';

let project: ForgeProject;
beforeAll(async () => {
  project = await queueProject();
});
afterAll(() => project[Symbol.asyncDispose]());

const COUNT = 10;
const EVENTS = [
  'merge.queued',
  'merge.started',
  'merge.finished',
  'attempt.finished',
  'task.closed',
] as const;
const STEPS = EVENTS.flatMap((event) => [1, 2, 5, 9, 10].map((count): QueueStep => `${event} ${count}`));

describe.each(SIGNALS)('[A1] a queue of ten merges that is ended by %s', (signal) => {
  it.each(STEPS)('at %s: no task is done unmerged, and all are resumed', async (step) => {
    const ids = await addPassed(project, COUNT);
    await endAtStep(project, ids, { step, signal });
    expect(await listUnmerged(project, ids)).toEqual([]);
    await expectAllMerged(project, ids);
  });
});
