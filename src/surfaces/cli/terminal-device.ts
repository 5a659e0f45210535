import { writeSync } from 'node:fs';
import type { Environment } from './terminal.ts';
import { decideColor, decideColumns } from './terminal.ts';
import type { ScreenDevice } from './live-screen.ts';

const USUAL_ROWS = 24;

/**
 * Where a picture can be drawn: on standard output, or beside it on standard error where only that is a terminal;
 * undefined where neither is, or it cannot move its cursor.
 */
export function findTerminal(options: {
  readonly isTerminal: { readonly stdout: boolean; readonly stderr: boolean };
  readonly env: Environment;
  readonly color: boolean;
}): ScreenDevice | undefined {
  const { isTerminal, env } = options;
  if (env['TERM'] === 'dumb' || (!isTerminal.stdout && !isTerminal.stderr)) return undefined;
  const stream = isTerminal.stdout ? process.stdout : process.stderr;
  return {
    is_output: isTerminal.stdout,
    write: (text) => writeAll(stream.fd, text),
    size: () => ({
      columns: decideColumns({ columns: stream.columns, isTerminal: true, env }),
      rows: stream.rows > 0 ? stream.rows : USUAL_ROWS,
      color: decideColor({ flag: options.color, env, isTerminal: true }),
    }),
    watch({ resized, suspended, continued, exits }) {
      const suspend = (): void => {
        suspended();
        process.kill(process.pid, 'SIGSTOP');
      };
      stream.on('resize', resized);
      process.on('SIGTSTP', suspend);
      process.on('SIGCONT', continued);
      process.on('exit', exits);
      return () => {
        stream.off('resize', resized);
        process.off('SIGTSTP', suspend);
        process.off('SIGCONT', continued);
        process.off('exit', exits);
      };
    },
  };
}

/** A picture is for whoever looks; a terminal that went away needs none. */
function writeAll(fd: number, text: string): void {
  if (text === '') return;
  try {
    writeSync(fd, text);
  } catch {
    // Nobody looks.
  }
}
