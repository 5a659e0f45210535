import { describeKeptFiles, keepFiles, type FilesPlace } from '#engine/keep-files.ts';
import { isForgeError } from '#kernel/errors.ts';
import { findGatePaths } from '#sync/gate-files.ts';
import type { AttemptLister } from '#sync/held-lines.ts';
import { toGitRepo, type Machine } from '#sync/machine.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import { readWorkSettings } from '#sync/work-settings.ts';

/** Logs of ended runs and rescue refs, where no other process looks after them now. What keeps this from being done is told. */
export async function keepDiskBounded(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: FilesPlace['store'] & AttemptLister },
  machine: Pick<Machine, 'clock' | 'env'> & { readonly home: string },
  notice: (line: string) => void,
): Promise<void> {
  try {
    const { settings } = await findGatePaths({ paths, store }, machine);
    const kept = await keepFiles(
      {
        store,
        clock: machine.clock,
        repo: toGitRepo(paths.root, machine),
        store_dir: paths.store_dir,
        settings: readWorkSettings({ paths: settings }, machine.home),
      },
      { patience_ms: 0 },
    );
    for (const line of kept === undefined ? [] : describeKeptFiles(kept)) notice(line);
  } catch (error) {
    // The command, or the server, is about something else.
    if (!isForgeError(error) && !(error instanceof Error && 'code' in error)) throw error;
    notice(`Old logs and rescue refs could not be looked after: ${error.message}`);
  }
}
