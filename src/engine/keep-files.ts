import type { GitRepo } from '#git/ask-git.ts';
import type { Clock } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { countNoun } from '#kernel/text.ts';
import { byteSize } from '#kernel/byte-size.ts';
import type { ProjectStore } from '#store/project-store.ts';
import { holdUpkeep } from '#sync/rescue-memory.ts';
import { markUpkeep } from '#sync/upkeep-mark.ts';
import type { WorkSettings } from '#sync/work-settings.ts';
import { LET_GO } from '#git/let-go-ref.ts';
import { keepLogs } from './keep-logs.ts';
import { keepRescues, type LetGo } from './keep-rescues.ts';

/** What has to be known to look after what agents left on the disk. */
export interface FilesPlace {
  readonly store: Pick<ProjectStore, 'getRun' | 'getAttempt' | 'listHeads' | 'isDaemonOver'>;
  readonly clock: Clock;
  /** The user's. */
  readonly repo: GitRepo;
  readonly store_dir: string;
  readonly settings: Pick<WorkSettings, 'runs' | 'workspace'>;
}

export interface KeptFiles {
  readonly run_logs: { readonly gone: number; readonly bytes: number };
  readonly rescues: readonly LetGo[];
}

/**
 * Brings the logs of runs and the rescue refs back within their bounds, as far as that can be done without losing what a
 * person has not seen. Undefined where another process is at it.
 */
export async function keepFiles(
  place: FilesPlace,
  { patience_ms }: { readonly patience_ms?: number } = {},
): Promise<KeptFiles | undefined> {
  const work = async (): Promise<KeptFiles> => {
    markUpkeep(place.store_dir, place.clock.now());
    return { run_logs: await keepLogs(place), rescues: await keepRescues(place) };
  };
  try {
    return await holdUpkeep(place, work, patience_ms);
  } catch (error) {
    if (isForgeError(error) && error.code === 'store_busy') return undefined;
    throw error;
  }
}

/** What went, a line each; nothing where nothing did. */
export function describeKeptFiles({ run_logs, rescues }: KeptFiles): string[] {
  return [
    ...(run_logs.gone === 0
      ? []
      : [`${countNoun(run_logs.gone, 'log')} of ended runs went (${byteSize(run_logs.bytes)})`]),
    ...(rescues.length === 0
      ? []
      : [
          `${countNoun(rescues.length, 'rescue ref')} went that somebody was shown long ago; git reflog ${LET_GO} has the commits`,
        ]),
  ];
}
