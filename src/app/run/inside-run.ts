import { realpathSync } from 'node:fs';
import { type Actor, parseActor } from '#domain/actor.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
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

const HERE = { kind: 'here' } as const;

/** git calls the first two; the others make projects of their own. */
const HARMLESS: ReadonlySet<string> = new Set(['git.hook', 'git.merge', 'project.init', 'project.demo']);

/** What decides who may do what, what is run and what is kept. No agent has a say in it, also outside of a run. */
const FOR_PEOPLE: ReadonlySet<string> = new Set([
  'agent.add',
  'agent.pause',
  'agent.remove',
  'agent.resume',
  'agent.token',
  'hooks.uninstall',
  'profile.add',
  'profile.remove',
  'project.pause',
  'project.remove',
  'project.resume',
  'project.trust',
  'project.uninstall',
  'server.run',
  'settings.set',
  'sync.import',
  'token.create',
  'token.list',
  'token.revoke',
  'token.rotate',
  'workflow.set',
]);

/**
 * An agent is not the user: a command inside of a run is done by the watcher of the run, with the rights of that run.
 * One that finds itself inside of a run and has no socket may read and nothing else. Projects and homes that the run
 * has nothing to do with, such as those of a test, are not meant. Throws permission_denied.
 */
export function findCommandPlace({ operation, env, cwd, server, actor, input }: Asked): CommandPlace {
  refuseAgent(operation, actor === undefined ? undefined : parseActor(actor, 'named'), input);
  const path = env[RUN_SOCKET] || undefined;
  // A read outside of every run looks at nothing more than this.
  if (path === undefined && operation.reads === true) return HERE;
  const run = HARMLESS.has(operation.name) ? undefined : findOwnRun(env);
  if (run === undefined || !isOf(run, env, cwd)) return HERE;
  if (server !== undefined)
    throw denied(operation, 'Inside of a run Forge is reached by the run alone, not by a server');
  if (run.is_unread === true && operation.reads !== true && !onlyLooks(operation.name, input))
    throw unread(operation);
  const isLocal = operation.local === true || operation.needs !== 'project';
  const isMcp = operation.name === 'mcp.serve';
  if (path !== undefined && (!isLocal || isMcp))
    return { kind: 'socket', path, key: env[RUN_SOCKET_KEY] ?? '' };
  if (operation.reads === true || onlyLooks(operation.name, input)) return HERE;
  const why = isLocal
    ? `forge ${operation.path.join(' ')} is for a person, not for a run`
    : 'This is inside of a run, and the way to its watcher is missing (FORGE_SOCKET): nothing is written';
  throw denied(operation, why);
}

/** Throws permission_denied where an agent asks for what is a person's to do. */
export function refuseAgent(
  operation: Pick<OperationEntry, 'name' | 'path'>,
  actor: Pick<Actor, 'kind' | 'name'> | undefined,
  input: Asked['input'],
): void {
  if (actor?.kind !== 'agent') return;
  const flag = PERSONS_FLAGS[operation.name]?.find((name) => input[name] === true);
  if (flag === undefined && !FOR_PEOPLE.has(operation.name)) return;
  const command = ['forge', ...operation.path, ...(flag === undefined ? [] : [`--${flag}`])].join(' ');
  throw denied(operation, `${actor.name} is an agent: ${command} is for a person`);
}

/** Of operations that are open to agents: what sets the project up anew, or puts its store in another's place. */
const PERSONS_FLAGS: Readonly<Record<string, readonly string[]>> = {
  'project.init': ['upgrade'],
  'project.doctor': ['rebuild', 'fix'],
};

/** `forge doctor --pr main` may be one of the checks. */
function onlyLooks(name: string, input: Asked['input']): boolean {
  return name === 'project.doctor' && input['fix'] !== true;
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

function unread({ name }: Asked['operation']): ForgeError {
  const why =
    'Forge cannot tell whether an agent asks, because the processes at /proc cannot be read: nothing is written';
  return new ForgeError('permission_denied', why, {
    hint: 'mount -t proc proc /proc, or do it in a terminal where nothing covers it',
    details: { operation: name },
  });
}

function denied({ name }: Pick<OperationEntry, 'name'>, message: string): ForgeError {
  return new ForgeError('permission_denied', message, {
    hint: 'Do it yourself, in a terminal of your own; in a test, with a FORGE_HOME of its own',
    details: { operation: name },
  });
}
