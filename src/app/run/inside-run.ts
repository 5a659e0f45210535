import { realpathSync } from 'node:fs';
import { decideCommandPlace, explainCommandPlace, type OwnRunFacts } from '#access/decide-command-place.ts';
import { parseActor } from '#domain/actor.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { OperationEntry } from '#operations/flag-table.ts';
import { findOwnRun, RUN_SOCKET, RUN_SOCKET_KEY, type OwnRun } from '#process/find-own-run.ts';
import { findProject } from '#sync/find-project.ts';
import { findForgeHome } from '#sync/forge-home.ts';
import { userHome } from '../user-home.ts';

/** Where a command has to be done. */
export type CommandPlace =
  | { readonly kind: 'here' }
  /** By the process that watches the run which this one belongs to. */
  | { readonly kind: 'socket'; readonly path: string; readonly key: string };

interface Asked {
  readonly operation: Pick<OperationEntry, 'name' | 'needs' | 'local' | 'reads' | 'path'>;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** A server was named on the command line. */
  readonly server: string | undefined;
  /** Who asks, where that was said by flag or environment. */
  readonly actor: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Throws permission_denied. */
export function findCommandPlace({ operation, env, cwd, server, actor, input }: Asked): CommandPlace {
  const path = env[RUN_SOCKET] || undefined;
  const asker = actor === undefined ? undefined : parseActor(actor, 'named');
  const decision = decideCommandPlace(operation, input, {
    has_socket: path !== undefined,
    findRun: () => findRun(env, cwd),
    names_server: server !== undefined,
    agent: asker?.kind === 'agent' ? asker.name : undefined,
  });
  switch (decision.outcome) {
    case 'here':
      return { kind: 'here' };
    case 'by_watcher':
      return { kind: 'socket', path: path ?? '', key: env[RUN_SOCKET_KEY] ?? '' };
    case 'for_people':
    case 'by_server':
    case 'unread':
    case 'not_by_run':
      throw explainCommandPlace(operation, decision);
  }
}

function findRun(env: NodeJS.ProcessEnv, cwd: string): OwnRunFacts | undefined {
  const run = findOwnRun(env);
  return run && { is_meant: isOf(run, env, cwd), is_unread: run.is_unread === true };
}

/** Whether the run belongs to the person or to the project that the command is about. */
function isOf({ project, home }: OwnRun, env: NodeJS.ProcessEnv, cwd: string): boolean {
  if (project === undefined || home === undefined) return true;
  if (isSamePlace(home, findForgeHome(env, userHome()))) return true;
  try {
    return isSamePlace(project, findProject(cwd, env, userHome()).paths.common_dir);
  } catch (error) {
    if (isForgeError(error) && error.code === 'not_a_project') return false;
    // What cannot be read may be the project of the run.
    return true;
  }
}

function isSamePlace(one: string, other: string): boolean {
  return toRealPath(one) === toRealPath(other);
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
