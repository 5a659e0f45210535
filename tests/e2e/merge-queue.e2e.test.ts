import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ForgeProject } from '../support/forge-cli.ts';
import {
  addPassed,
  endAtStep,
  expectAllMerged,
  listUnmerged,
  queueProject,
  type EndSignal,
  type QueueStep,
} from '../support/merge-queue.ts';
import { shareOf } from '../support/share-of.ts';

let project: ForgeProject;
beforeAll(async () => {
  project = await queueProject();
});
afterAll(() => project[Symbol.asyncDispose]());

/** The soak has every signal at every step of a queue of ten. */
const ENDS: readonly (readonly [EndSignal, QueueStep])[] = [
  ['SIGKILL', 'merge.finished 2'],
  ['SIGINT', 'merge.finished 1'],
  ['SIGTERM', 'merge.started 2'],
  ['SIGHUP', 'attempt.finished 1'],
];

describe('[A1] a queue of merges that is ended', () => {
  it.each(shareOf(ENDS, 4))(
    'by %s at %s leaves no task done whose work is not on main, and all are resumed',
    async (signal, step) => {
      const ids = await addPassed(project, 4);
      await endAtStep(project, ids, { step, signal });
      expect(await listUnmerged(project, ids)).toEqual([]);
      await expectAllMerged(project, ids);
    },
  );
});
