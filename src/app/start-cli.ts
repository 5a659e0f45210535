import { statSync, writeSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import { createProcessIo } from '#surfaces/cli/process-io.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import { openContext } from './open-context.ts';

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
    openContext: ({ operation, globals }) =>
      openContext({
        needs: operation.needs,
        cwd:
          globals.directory === undefined
            ? io.cwd
            : findFolder(
                isAbsolute(globals.directory) ? globals.directory : resolve(io.cwd, globals.directory),
              ),
        env: process.env,
        actor: globals.actor,
        progress: (line) => {
          if (!globals.json && !globals.quiet) tell(line);
        },
      }),
  });
}

/** A folder that is not there must not quietly become the project around it. */
function findFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new ForgeError('invalid_input', `-C: ${path} is not a folder`, { details: { path } });
}

/** Progress is for whoever still reads; the work goes on without. */
function tell(line: string): void {
  try {
    writeSync(1, `${line}\n`);
  } catch {
    // The reader went away, or cannot keep up.
  }
}
