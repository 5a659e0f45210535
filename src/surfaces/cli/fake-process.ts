import { tmpdir } from 'node:os';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import type { AnyOperation } from '#operations/flag-table.ts';
import type { OperationContext } from '#operations/operation.ts';
import type { CliIo } from './cli-io.ts';
import { type CliDeps, runCli } from './run-cli.ts';

export interface Setup {
  readonly run?: (input: Record<string, unknown>) => unknown;
  readonly text?: AnyOperation['text'];
  readonly io?: Partial<CliIo>;
  readonly openContext?: CliDeps['openContext'];
}

/** For tests: one command in a process that exists only here, with an operation that does what it is told. */
export async function runInFakeProcess(argv: readonly string[], setup: Setup = {}) {
  const out = { stdout: '', stderr: '', exit: -1, log: [] as string[], input: undefined as unknown };
  const io: CliIo = {
    stdout: async (text) => {
      out.log.push('printed');
      out.stdout += text;
    },
    stderr: async (text) => {
      out.stderr += text;
    },
    stdin: async () => Buffer.from('from stdin\n'),
    ask: () => Promise.reject(new Error('asked without a terminal')),
    env: {},
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    cwd: tmpdir(),
    rawArgv: () => undefined,
    ...setup.io,
  };
  // Only the clock is used by the surface itself; the rest is the operation's.
  const context = { clock: { now: () => 42 } } as unknown as OperationContext;
  const deps: CliDeps = {
    version: '1.2.3',
    table: FLAG_TABLE,
    loadOperation: async (name) => {
      out.log.push(`loaded ${name}`);
      const operation: AnyOperation = {
        run: async (_ctx, input) => {
          out.log.push('ran');
          out.input = input;
          return setup.run?.(input) ?? { id: 'fg-a3f8', title: 'x' };
        },
        text: setup.text ?? ((output) => `text of ${JSON.stringify(output)}`),
      };
      return operation;
    },
    openContext:
      setup.openContext ??
      (async () => ({
        ...context,
        [Symbol.asyncDispose]: async () => {
          out.log.push('closed');
        },
      })),
  };
  out.exit = await runCli(argv, io, deps);
  return out;
}
