import {
  createForgeCli,
  forgeFolder,
  forgeProject,
  openPlace,
  type ForgeCli,
  type ForgePlace,
  type ForgeProject,
} from './forge-cli.ts';
import { runHere } from './run-here.ts';
import type { TempFolder } from './temp-repo.ts';

/** For tables of many commands: starting a process for each costs thirty times what the command does. */
interface Here {
  /** The built program, for the few rows that show that both are the same. */
  readonly program: ForgeCli;
}

/**
 * Like `forgeProject`, with the command line run in this process: the same argv, operations, store and files, and
 * only the process left out. What is about processes (signals, pipes, locks, several at once) needs the program.
 *
 *     await using project = await forgeProjectHere();
 */
export async function forgeProjectHere(
  options: Parameters<typeof forgeProject>[0] = {},
): Promise<ForgeProject & Here> {
  return toHere(await forgeProject(options));
}

/** The same without a project. */
export async function forgeFolderHere(
  options: Parameters<typeof forgeFolder>[0] = {},
): Promise<ForgePlace & TempFolder & Here> {
  return toHere(await forgeFolder(options));
}

/** Around a repository or folder that was made elsewhere. */
export async function openPlaceHere({ path }: { readonly path: string }): Promise<ForgePlace & Here> {
  return toHere({ ...(await openPlace({ path })), path });
}

function toHere<P extends ForgePlace & { readonly path: string }>(place: P): P & Here {
  return { ...place, ...createCliHere(place, place.path) };
}

/** `forge` of a place, run in this process. What git starts there is the program all the same. */
export function createCliHere(place: ForgePlace, cwd: string): ForgeCli & Here {
  return toCliHere({ cwd, env: place.env }, place.with({ cwd }));
}

function toCliHere(options: Parameters<typeof createForgeCli>[1], program: ForgeCli): ForgeCli & Here {
  return {
    ...createForgeCli(runHere, options),
    program,
    with: (more) =>
      toCliHere({ ...options, ...more, env: { ...options.env, ...more.env } }, program.with(more)),
  };
}
