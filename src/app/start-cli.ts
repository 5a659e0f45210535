import { statSync, writeSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import { createProcessIo } from '#surfaces/cli/process-io.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import { systemClock } from '#kernel/clock.ts';
import { openContext } from './open-context.ts';
import { createMeter } from './progress-meter.ts';

/** Wires the command line to this process, the local store and the operations. Returns the exit code. */
export function startCli(argv: readonly string[], version: string): Promise<number> {
  const io = createProcessIo();
  return runCli(argv, io, {
    table: FLAG_TABLE,
    version,
    async loadOperation(name) {
      const load = MANIFEST[name];
      if (load === undefined) throw new ForgeError('internal', `No implementation of ${name}`);
      return load();
    },
    async healStore({ details }) {
      const { healSqliteStore } = await import('#store/open-sqlite-store.ts');
      const notice = (line: string): void => tell(2, `forge: ${escapeLine(line)}`);
      const { path } = details;
      if (typeof path !== 'string') return;
      const replica = join(dirname(path), 'tasks.jsonl');
      await healSqliteStore({ database: path, replica, clock: systemClock, notice });
    },
    openContext: ({ operation, globals, input }) =>
      openContext({
        needs: operation.needs,
        route: findRoute(operation.route, input),
        cwd:
          globals.directory === undefined
            ? io.cwd
            : findFolder(
                isAbsolute(globals.directory) ? globals.directory : resolve(io.cwd, globals.directory),
              ),
        env: process.env,
        actor: globals.actor,
        notice: (line) => {
          if (!globals.quiet) tell(2, `forge: ${escapeLine(line)}`);
        },
        meter: createMeter({
          isTerminal: process.stderr.isTTY && !globals.quiet,
          now: () => systemClock.now(),
        }),
        progress: (line) => {
          if (!globals.json && !globals.quiet) tell(1, line);
        },
      }),
  });
}

function findRoute(field: string | undefined, input: Readonly<Record<string, unknown>>): string | undefined {
  const id = field === undefined ? undefined : input[field];
  return typeof id === 'string' ? id : undefined;
}

/** A folder that is not there must not quietly become the project around it. */
function findFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new ForgeError('invalid_input', `-C: ${path} is not a folder`, { details: { path } });
}

/** Progress is for whoever still reads; the work goes on without. */
function tell(file: 1 | 2, line: string): void {
  try {
    writeSync(file, `${line}\n`);
  } catch {
    // The reader went away, or cannot keep up.
  }
}
