import { ForgeError } from '#kernel/errors.ts';
import { findForPeople } from './for-people.ts';

/** What a command line says of its operation. */
export interface AskedCommand {
  readonly name: string;
  readonly needs: 'project' | 'repository' | 'nothing';
  readonly local?: boolean | undefined;
  readonly reads?: boolean | undefined;
  readonly path: readonly string[];
}

/** What is known of the run that a command finds itself in. */
export interface OwnRunFacts {
  /** It belongs to the person or to the project that the command is about. */
  readonly is_meant: boolean;
  /** The processes around it cannot be read, so that it may be inside of a run. */
  readonly is_unread: boolean;
}

export interface CommandFacts {
  /** The way to the process that watches a run was given. */
  readonly has_socket: boolean;
  /** Undefined outside of every run. Looked at only where it counts. */
  readonly findRun: () => OwnRunFacts | undefined;
  /** A server was named on the command line. */
  readonly names_server: boolean;
  /** The name of the agent that says it asks. */
  readonly agent: string | undefined;
}

export type CommandDecision =
  | { readonly outcome: 'here' }
  /** By the process that watches the run, with the rights of the run. */
  | { readonly outcome: 'by_watcher' }
  | { readonly outcome: 'for_people'; readonly agent: string; readonly flag: string | undefined }
  /** Inside of a run a server is not the way. */
  | { readonly outcome: 'by_server' }
  | { readonly outcome: 'unread' }
  | { readonly outcome: 'not_by_run'; readonly is_local: boolean };

const HERE = { outcome: 'here' } as const;

/** git calls the first two; the others make projects of their own. */
const HARMLESS: ReadonlySet<string> = new Set(['git.hook', 'git.merge', 'project.init', 'project.demo']);

/**
 * An agent is not the user: a command inside of a run is done by the watcher of the run, with the rights of that run.
 * One that finds itself inside of a run and has no socket may read and nothing else. Projects and homes that the run
 * has nothing to do with, such as those of a test, are not meant.
 */
export function decideCommandPlace(
  operation: AskedCommand,
  input: Readonly<Record<string, unknown>>,
  facts: CommandFacts,
): CommandDecision {
  const { name, needs, local } = operation;
  const { agent, has_socket, names_server } = facts;
  const persons = agent === undefined ? undefined : findForPeople(name, input);
  if (agent !== undefined && persons !== undefined)
    return { outcome: 'for_people', agent, flag: persons.flag };
  // A read outside of every run looks at nothing more than this.
  if (!has_socket && operation.reads === true) return HERE;
  const run = HARMLESS.has(name) ? undefined : facts.findRun();
  if (run === undefined || !run.is_meant) return HERE;
  if (names_server) return { outcome: 'by_server' };
  const reads = operation.reads === true || onlyLooks(name, input);
  if (run.is_unread && !reads) return { outcome: 'unread' };
  const is_local = local === true || needs !== 'project';
  if (has_socket && (!is_local || name === 'mcp.serve')) return { outcome: 'by_watcher' };
  return reads ? HERE : { outcome: 'not_by_run', is_local };
}

/** `forge doctor --pr main` may be one of the checks. */
function onlyLooks(name: string, input: Readonly<Record<string, unknown>>): boolean {
  return name === 'project.doctor' && input['fix'] !== true;
}

export function explainCommandPlace(
  { name, path }: Pick<AskedCommand, 'name' | 'path'>,
  refusal: Exclude<CommandDecision, { outcome: 'here' | 'by_watcher' }>,
): ForgeError {
  const details = { operation: name };
  const denied = (message: string): ForgeError =>
    new ForgeError('permission_denied', message, {
      hint: 'Do it yourself, in a terminal of your own; in a test, with a FORGE_HOME of its own',
      details,
    });
  switch (refusal.outcome) {
    case 'for_people': {
      const { agent, flag } = refusal;
      const command = ['forge', ...path, ...(flag === undefined ? [] : [`--${flag}`])].join(' ');
      return denied(`${agent} is an agent: ${command} is for a person`);
    }
    case 'by_server':
      return denied('Inside of a run Forge is reached by the run alone, not by a server');
    case 'unread':
      return new ForgeError(
        'permission_denied',
        'Forge cannot tell whether an agent asks, because the processes at /proc cannot be read: nothing is written',
        {
          hint: 'mount -t proc proc /proc, or do it in a terminal where nothing covers it',
          details,
        },
      );
    case 'not_by_run':
      return denied(
        refusal.is_local
          ? `forge ${path.join(' ')} is for a person, not for a run`
          : 'This is inside of a run, and the way to its watcher is missing (FORGE_SOCKET): nothing is written',
      );
  }
}
