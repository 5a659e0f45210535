import { systemActor } from '#domain/actor.ts';
import type { PutBackLine } from '#domain/taken-back.ts';
import type { OwnValue } from '#domain/judge-losses.ts';
import { exportFiles } from '#sync/export-files.ts';
import { foldFiles } from '#sync/fold-files.ts';
import { mergeHistoryFiles, mergeTaskFiles } from '#sync/merge-task-files.ts';
import type { SyncClone } from './sync-clone.ts';

/** The parts under test, so that a wrong one can be put in the place of each. */
export interface SyncWorld {
  readonly fold: (clone: SyncClone) => Promise<void>;
  readonly exportFiles: typeof exportFiles;
  readonly mergeTasks: (base: string, ours: string, theirs: string, now: number) => string;
  readonly mergeHistory: (ours: string, theirs: string) => string;
  /** Nothing, unless the replay is wrong. */
  readonly beforeReplay: (replica: string) => void;
  /** Nothing, unless a change of the files by git goes unseen. */
  readonly afterCheckout: (clone: SyncClone) => Promise<void>;
}

export const SYNC: SyncWorld = {
  async fold(clone) {
    const by = {
      actor: systemActor('fold'),
      now: clone.now,
      clock: () => Date.now(),
      findHeld: async () => undefined,
      findByHand: (lines: readonly PutBackLine[]) => Promise.resolve(clone.findByHand(lines)),
      findSeen: (values: readonly OwnValue[]) => Promise.resolve(clone.findSeen(values)),
    };
    await foldFiles(clone.store, clone.files, by);
  },
  exportFiles,
  mergeTasks: (base, ours, theirs, now) => mergeTaskFiles(base, ours, theirs, { now }).text,
  mergeHistory: (ours, theirs) => mergeHistoryFiles(ours, theirs).text,
  beforeReplay: () => undefined,
  afterCheckout: () => Promise.resolve(),
};
