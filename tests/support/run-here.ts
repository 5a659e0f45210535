import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openContext } from '#app/open-context.ts';
import { createRemoteOperation } from '#app/remote-operation.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import type { Accepted } from '#operations/flag-table.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import type { ProgramResult, RunProgram } from './forge-cli.ts';
import { FORGE } from './forge-program.ts';
import { lookLike } from './look-like.ts';

/**
 * The command line in this process: the same argv, operations, store and files, and only the process left out. Imports
 * nothing of vitest, so that a process of its own can use it too.
 */
export const runHere: RunProgram = (args, options) =>
  // Nothing of the person who runs the tests: `homedir` asks this process.
  lookLike({ script: FORGE, home: options.env.HOME }, () => runInside(args, options));

const runInside: RunProgram = async (args, { cwd, env, stdin }) => {
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
