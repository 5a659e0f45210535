import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runGit } from '#git/run-git.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Host, Meter } from '#operations/operation.ts';
import { runOnTerminal, runProgram } from '#process/run-program.ts';
import { openStore } from '#store/open-store.ts';
import { keepStoreIdentity } from '#store/store-identity.ts';
import { findProject } from '#sync/find-project.ts';
import { installHooks, readHookStatus, uninstallHooks } from '#sync/hook-blocks.ts';
import { initialiseProject } from '#sync/initialise-project.ts';
import { rememberProgram } from '#sync/program-memory.ts';
import { getRepositoryPaths } from '#sync/repository-paths.ts';
import { findProgram } from './find-program.ts';
import { holdWhileMending } from './hold-while-mending.ts';
import { VERSION } from './version.ts';

export type LocalHost = Omit<Host, 'serveMcp' | 'serve' | 'confirm' | 'interactive' | 'runOnTerminal'> & {
  readonly [Name in 'runOnTerminal']: NonNullable<Host[Name]>;
};

/** What operations have done for them on this machine. */
export function createLocalHost(options: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly progress: (line: string) => void;
  readonly notice: (line: string) => void;
  readonly meter: Meter;
}): LocalHost {
  const { cwd, env, clock } = options;
  return {
    async initProject(input) {
      const made = await initialiseProject({
        cwd,
        env,
        homeDir: homedir(),
        program: findProgram(),
        clock,
        prefix: input.prefix,
        name: input.name,
        stealth: input.stealth,
        branch: input.branch,
        async openStore(location) {
          await using _store = await openStore(location, {
            clock,
            modes: () => readSharedModes(dirname(location.folder)),
            hold: holdWhileMending,
            written_by: VERSION,
            notice: options.notice,
          });
        },
      });
      const store_dir = dirname(made.database);
      const modes = readSharedModes(dirname(store_dir));
      keepStoreIdentity(
        { folder: store_dir },
        { project_id: made.project_id, first_project_id: made.project_id, modes },
      );
      rememberProgram({ store_dir, common_dir: dirname(store_dir) }, findProgram());
      return made;
    },
    installHooks: ({ shared }) =>
      installHooks({ paths: findProject(cwd, env, homedir()).paths, program: findProgram(), env, shared }),
    uninstallHooks: ({ shared }) =>
      uninstallHooks({ paths: getRepositoryPaths(cwd, env), program: findProgram(), env, shared }),
    readHookStatus: () =>
      readHookStatus({ paths: getRepositoryPaths(cwd, env), program: findProgram(), env }),
    run(command, args, { cwd: folder, env: more }) {
      const environment = { ...withoutGitVariables(env), ...more };
      if (command === 'git') return runGit(args, { cwd: folder, env: environment });
      return runProgram(process.execPath, [process.argv[1] ?? '', ...args], {
        cwd: folder,
        env: environment,
      });
    },
    runOnTerminal: (args, { cwd: folder, env: more }) =>
      runOnTerminal(process.execPath, [process.argv[1] ?? '', ...args], {
        cwd: folder,
        env: { ...withoutGitVariables(env), ...more },
      }),
    makeTemporaryFolder: (prefix) => mkdtemp(join(tmpdir(), prefix)),
    async removeFolder(path, { at_exit = false } = {}) {
      if (at_exit) removeAtExit(path);
      else await rm(path, { recursive: true, force: true });
    },
    async writeFile(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
    progress: options.progress,
    notice: options.notice,
    meter: options.meter,
  };
}

/** A signal that nobody else waits for would end the process without telling it. */
function removeAtExit(path: string): void {
  process.once('exit', () => {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // Somebody still writes there; it is a temporary folder.
    }
  });
  for (const [signal, exit] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(exit);
    });
}

/** Inside a hook git's variables point at the user's repository; a command in another folder must not follow them. */
function withoutGitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX)$/.test(name)),
  );
}
