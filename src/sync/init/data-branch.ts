import { commitFiles } from '#git/commit-files.ts';
import { checkBranchName } from '#git/exchange-branch.ts';
import { fetchBranch } from '#git/exchange-remote.ts';
import { hasRemote, isBranchCheckedOut } from '#git/branches.ts';
import { readBlob } from '#git/read-blob.ts';
import { ForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import { findHeldFilesAt, NO_ATTEMPTS } from '../held-files.ts';
import { toGitRepo, type Machine } from '../machine.ts';
import { DATA_BRANCH_RULE, isAttemptBranch, parseProjectConfig } from '../project-config.ts';
import type { ProjectPaths } from '../project-paths.ts';
import { readSharedConfigBytes } from '../shared-config.ts';
import { CONFIG_PATH } from '../task-files.ts';
import type { NewConfig } from './decide-config.ts';

export interface DataBranch {
  readonly paths: ProjectPaths;
  readonly machine: Machine;
  readonly branch: string;
}

/** The config of a data branch that is there, here or at the remote; the wished one where there is none. */
export async function adoptDataBranch(
  { paths, machine, branch }: DataBranch,
  wished: NewConfig,
): Promise<NewConfig> {
  const repo = toGitRepo(paths.root, machine);
  await checkBranchName(repo, branch);
  refuseAttemptBranch(branch);
  if (await isBranchCheckedOut(repo, branch)) {
    throw new ForgeError(
      'state_invalid',
      `Branch ${branch} is checked out; tasks need a branch of their own`,
      {
        hint: 'forge init --branch forge-data',
        details: { branch },
      },
    );
  }
  if (await hasRemote(repo, 'origin')) await fetchBranch({ repo, remote: 'origin', branch });
  for (const rev of [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`]) {
    const bytes = await readBlob(repo, rev, CONFIG_PATH);
    if (bytes === undefined) continue;
    if ((await findHeldFilesAt(NO_ATTEMPTS, repo, rev, [CONFIG_PATH])).has(CONFIG_PATH))
      throw new ForgeError(
        'state_invalid',
        `An attempt that nobody has merged wrote ${branch}:${CONFIG_PATH}`,
        {
          hint: 'forge init --branch <another name>',
          details: { branch },
        },
      );
    const text = bytes.toString('utf8');
    parseProjectConfig(text, `${branch}:${CONFIG_PATH}`);
    const found = readJson(text.replace(/^\uFEFF/, '')) as NewConfig;
    return { ...found, initMode: 'branch', branchName: branch };
  }
  return wished;
}

function refuseAttemptBranch(branch: string): void {
  if (!isAttemptBranch(branch)) return;
  throw new ForgeError('invalid_input', `${branch} cannot hold the tasks; allowed is ${DATA_BRANCH_RULE}`, {
    hint: 'forge init --branch forge-data',
    details: { branch, allowed: DATA_BRANCH_RULE },
  });
}

/** The first commit of the data branch, so that it is there from the beginning. */
export async function startDataBranch({ paths, machine, branch }: DataBranch): Promise<string[]> {
  const repo = toGitRepo(paths.root, machine);
  const config = readSharedConfigBytes(paths);
  if (config === undefined) return [];
  const ref = `refs/heads/${branch}`;
  const theirs = await readBlob(repo, `refs/remotes/origin/${branch}`, CONFIG_PATH);
  if (theirs !== undefined) return ['The project was at the remote already. Next: forge sync'];
  await commitFiles({
    repo,
    files: new Map([[CONFIG_PATH, config]]),
    message: 'Start the Forge project',
    ref,
  });
  return [];
}
