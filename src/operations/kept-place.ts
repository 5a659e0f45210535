import type { FilesPlace } from '#engine/keep-files.ts';
import { findGatePaths } from '#sync/gate-files.ts';
import { toGitRepo } from '#sync/machine.ts';
import { readWorkSettings } from '#sync/work-settings.ts';
import type { OpenProject, OperationContext } from './operation.ts';

/** What is needed to measure, or to bound, what a project has grown on this machine. Throws what is wrong with the settings. */
export async function keptPlace({
  project,
  machine,
  place,
  clock,
}: Pick<OperationContext, 'project' | 'machine' | 'place' | 'clock'>): Promise<
  FilesPlace & Pick<OpenProject, 'store'>
> {
  const { paths, store } = project;
  const { settings } = await findGatePaths(project, machine);
  return {
    store,
    clock,
    repo: toGitRepo(paths.root, machine),
    store_dir: paths.store_dir,
    settings: readWorkSettings({ paths: settings }, place.home),
  };
}
