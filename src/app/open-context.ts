import { homedir } from 'node:os';
import { systemClock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Host, OpenProject, OperationContext } from '#operations/operation.ts';
import { openSqliteStore } from '#store/open-sqlite-store.ts';
import { findProject, refreshSharedConfig } from '#sync/find-project.ts';
import { refreshDatabaseLink } from '#sync/link-database.ts';

export interface ContextRequest {
  readonly needs: 'project' | 'repository' | 'nothing';
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly actor: string | undefined;
  /** One line for the person while an operation goes on. */
  readonly progress: (line: string) => void;
}

/** Config, store and identity for one operation. What a cold read does not use is loaded when it is asked for. */
export async function openContext(request: ContextRequest): Promise<OperationContext & AsyncDisposable> {
  const { cwd, env } = request;
  const project = request.needs === 'project' ? await openProject(cwd, env) : undefined;
  return {
    clock: systemClock,
    cwd,
    async actor() {
      const { findActor } = await import('./find-actor.ts');
      // Whoever writes also keeps up what others rely on: the config's shared copy and the link to the database.
      if (project !== undefined) {
        refreshSharedConfig(project.paths);
        refreshDatabaseLink(project.paths);
      }
      return findActor({ flag: request.actor, env, cwd });
    },
    get project(): OpenProject {
      if (project === undefined)
        throw new ForgeError('not_a_project', "Not a Forge project. Run 'forge init' first.");
      return project;
    },
    host: lazyHost(request),
    async [Symbol.asyncDispose]() {
      await project?.store[Symbol.asyncDispose]();
    },
  };
}

async function openProject(cwd: string, env: NodeJS.ProcessEnv): Promise<OpenProject> {
  const { paths, config } = findProject(cwd, env, homedir());
  const { database, replica } = paths;
  const store = await openSqliteStore({
    database,
    replica,
    clock: systemClock,
    lock_timeout_ms: lockTimeout(env),
  });
  return { paths, config, store };
}

function lockTimeout(env: NodeJS.ProcessEnv): number {
  const text = env.FORGE_LOCK_TIMEOUT_MS;
  if (text === undefined || text === '') return LIMITS.lock_timeout_ms;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isNaN(value)) return value;
  throw new ForgeError(
    'invalid_input',
    `FORGE_LOCK_TIMEOUT_MS is "${text}"; it must be a number of milliseconds`,
  );
}

function lazyHost(request: ContextRequest): Host {
  const load = async (): Promise<Host> =>
    (await import('./local-host.ts')).createLocalHost({ ...request, clock: systemClock });
  return {
    initProject: async (options) => (await load()).initProject(options),
    run: async (command, args, options) => (await load()).run(command, args, options),
    makeTemporaryFolder: async (prefix) => (await load()).makeTemporaryFolder(prefix),
    removeFolder: async (path) => (await load()).removeFolder(path),
    progress: request.progress,
  };
}
