import { mkdirSync } from 'node:fs';
import type { GitRepo } from '#git/ask-git.ts';
import { listBranchFiles, type BranchFile } from '#git/branch-files.ts';
import { ForgeError } from '#kernel/errors.ts';
import { fetchSharedProjects, findSharedProjects, toBranchName } from '../find-shared-project.ts';
import type { SharedProject, SharedProjects } from '../find-shared-project.ts';
import { readFolderState, restoreTrackedFiles } from '../folder-state.ts';
import { lookAt } from '../look-at.ts';
import { replaceFile } from '../place-file.ts';
import { isAttemptBranch, type ProjectConfig } from '../project-config.ts';
import type { ProjectPaths } from '../project-paths.ts';
import { CONFIG_PATH } from '../task-files.ts';

export interface ProjectToAdopt {
  readonly shared: SharedProject | undefined;
  /** What the person should know who starts a project, as none was found. */
  readonly notes: readonly string[];
}

/** The project that this clone came with, where its working tree shows none. Throws where there are several. */
export async function findProjectToAdopt(repo: GitRepo): Promise<ProjectToAdopt> {
  const here = choose(await findSharedProjects(repo));
  if (here !== undefined) return { shared: here, notes: [] };
  const there = await fetchSharedProjects(repo, 'origin');
  return { shared: choose(there), notes: tellUnseen(there.unseen ?? []) };
}

/** What such a branch holds is known only when it is fetched, which may be much. */
function tellUnseen(branches: readonly string[]): string[] {
  if (branches.length === 0) return [];
  const more = branches.length > SHOWN ? ` and ${branches.length - SHOWN} more` : '';
  const names = `${branches.slice(0, SHOWN).join(', ')}${more}`;
  return [
    `This clone never fetched these branches of origin: ${names}. If one of them holds the tasks of a Forge project, this is a second project; to have that one: forge uninstall --yes, then forge init --branch <name>`,
  ];
}

const SHOWN = 5;

function choose({ data, main }: SharedProjects): SharedProject | undefined {
  const births = new Set(data.map(({ config }) => config.created_at));
  const [first] = data;
  if (births.size <= 1) return first ?? main;
  const names = data.map(({ branch }) => branch);
  throw new ForgeError('already_exists', `Several branches hold a Forge project: ${names.join(', ')}`, {
    hint: `forge init --branch ${first?.branch ?? 'forge-data'}`,
    details: { branches: names },
  });
}

/**
 * Puts the files of the project back into the working tree, as far as this branch has any, and the config in any case.
 * Returns what the person should know.
 */
export async function bringFilesBack(
  paths: ProjectPaths,
  repo: GitRepo,
  { config, text }: { readonly config: ProjectConfig; readonly text: string | Buffer },
): Promise<string[]> {
  const state = await readFolderState(repo);
  if (state === 'sparse') return [SPARSE_NOTE];
  const elsewhere =
    state === 'none' && config.initMode === 'standard'
      ? (await listBranchFiles(repo, ['refs/heads', 'refs/remotes'], CONFIG_PATH)).find(
          ({ ref }) => !isAttemptBranch(toBranchName(ref)),
        )
      : undefined;
  if (elsewhere !== undefined) throw refuseOlderBranch(paths, elsewhere);
  const restored = state === 'deleted' ? await restoreTrackedFiles(repo) : [];
  if (lookAt(paths.config) === undefined) {
    mkdirSync(paths.forge_dir, { recursive: true });
    replaceFile(paths.config, text);
  }
  if (restored.length > 0) return [`Brought back from git: ${restored.join(', ')}`];
  return config.initMode === 'standard'
    ? ['This branch has no .forge: commit it to have the tasks here']
    : [];
}

function refuseOlderBranch({ root, store_dir }: ProjectPaths, { ref }: BranchFile): ForgeError {
  const branch = ref.replace(/^refs\/(?:heads|remotes)\//, '');
  return new ForgeError('already_exists', `${root} is a Forge project already; this branch has no .forge`, {
    hint: `git merge ${branch}, or only its files: git checkout ${branch} -- .forge .gitattributes .gitignore`,
    details: { path: store_dir, branch },
  });
}

export const SPARSE_NOTE =
  'This sparse checkout leaves .forge out, so that commits carry no tasks: git sparse-checkout add .forge';
