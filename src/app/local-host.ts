import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runGit } from '#git/run-git.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Host, Meter } from '#operations/operation.ts';
import { runProgram } from '#process/run-program.ts';
import { openSqliteStore } from '#store/open-sqlite-store.ts';
import { findProject } from '#sync/find-project.ts';
import { installHooks, readHookStatus, uninstallHooks } from '#sync/hook-blocks.ts';
import { initialiseProject } from '#sync/initialise-project.ts';
import { getRepositoryPaths } from '#sync/repository-paths.ts';
import { findProgram } from './find-program.ts';

/** What operations have done for them on this machine. */
export function createLocalHost(options: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly progress: (line: string) => void;
  readonly notice: (line: string) => void;
  readonly meter: Meter;
}): Omit<Host, 'serveMcp' | 'serve' | 'confirm' | 'interactive'> {
  const { cwd, env, clock } = options;
  return {
    initProject: (input) =>
      initialiseProject({
        cwd,
        env,
        homeDir: homedir(),
        program: findProgram(),
        clock,
        prefix: input.prefix,
        name: input.name,
        stealth: input.stealth,
        branch: input.branch,
        async openStore(database) {
          await using _store = await openSqliteStore({
            database,
            replica: join(database, '..', 'tasks.jsonl'),
            clock,
          });
        },
      }),
    installHooks: ({ shared }) =>
      installHooks({ paths: findProject(cwd, env, homedir()).paths, program: findProgram(), env, shared }),
    uninstallHooks: ({ shared }) =>
      uninstallHooks({ paths: getRepositoryPaths(cwd), program: findProgram(), env, shared }),
    readHookStatus: () => readHookStatus({ paths: getRepositoryPaths(cwd), program: findProgram(), env }),
    run(command, args, { cwd: folder, env: more }) {
      const environment = { ...withoutGitVariables(env), ...more };
      if (command === 'git') return runGit(args, { cwd: folder, env: environment });
      return runProgram(process.execPath, [process.argv[1] ?? '', ...args], {
        cwd: folder,
        env: environment,
      });
    },
    makeTemporaryFolder: (prefix) => mkdtemp(join(tmpdir(), prefix)),
    async removeFolder(path, { at_exit = false } = {}) {
      if (at_exit) process.once('exit', () => rmSync(path, { recursive: true, force: true }));
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

/** Inside a hook git's variables point at the user's repository; a command in another folder must not follow them. */
function withoutGitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX)$/.test(name)),
  );
}
