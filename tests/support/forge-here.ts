import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { healStore } from '#app/heal-store.ts';
import { openContext } from '#app/open-context.ts';
import { createRemoteOperation } from '#app/remote-operation.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import type { Accepted } from '#operations/flag-table.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import {
  createForgeCli,
  FORGE,
  forgeFolder,
  forgeProject,
  openPlace,
  type ForgeCli,
  type ForgePlace,
  type ForgeProject,
  type ProgramResult,
  type RunProgram,
} from './forge-cli.ts';
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

const runHere: RunProgram = async (args, { cwd, env, stdin }) => {
  // Git hooks and the merge driver are told to start what this process was started with.
  process.argv[1] = FORGE;
  // Nothing of the person who runs the tests: `homedir` asks this process.
  process.env['HOME'] = env.HOME;
  const printed = { stdout: '', stderr: '' };
  const tell = (stream: keyof typeof printed, line: string): void => void (printed[stream] += `${line}\n`);
  const notice = (line: string): void => tell('stderr', `forge: ${escapeLine(line)}`);
  const io = {
    stdout: async (text: string) => void (printed.stdout += text),
    stderr: async (text: string) => void (printed.stderr += text),
    stdin: async () => Buffer.from(stdin ?? ''),
    ask: () => Promise.reject(new Error('asked without a terminal')),
    env,
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    cwd,
    rawArgv: () => undefined,
  };
  const exit = await runCli(args, io, {
    table: FLAG_TABLE,
    version: '0.0.0-test',
    async loadOperation(name, accepted) {
      const load = MANIFEST[name];
      const server = findServer(accepted.globals, env);
      // Which commands stay here although a server is named is decided by the program.
      if (load === undefined || (server !== undefined && accepted.operation.local === true))
        throw new Error(`${name} is not for this process`);
      return server === undefined ? load() : createRemoteOperation(await load(), accepted, { server, env });
    },
    healStore: (error) => healStore(error, notice),
    openContext: ({ operation, globals, input }) =>
      openContext({
        needs: findServer(globals, env) === undefined ? operation.needs : 'nothing',
        route: findRoute(operation.route, input),
        operation: operation.name,
        input,
        reads: operation.reads,
        cwd: globals.directory === undefined ? cwd : getFolder(resolve(cwd, globals.directory)),
        env,
        vouches: true,
        actor: globals.actor,
        notice: globals.quiet ? () => undefined : notice,
        meter: () => undefined,
        progress: globals.json || globals.quiet ? () => undefined : (line) => tell('stdout', line),
      }),
  });
  return { ...printed, exit } satisfies ProgramResult;
};

function findServer(globals: Accepted['globals'], env: NodeJS.ProcessEnv): string | undefined {
  return globals.server ?? env.FORGE_SERVER;
}

function findRoute(field: string | undefined, input: Accepted['input']): string | undefined {
  const id = field === undefined ? undefined : input[field];
  return typeof id === 'string' ? id : undefined;
}

function getFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new ForgeError('invalid_input', `-C: ${path} is not a folder`, { details: { path } });
}
