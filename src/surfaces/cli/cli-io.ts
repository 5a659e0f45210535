import type { Environment } from './terminal.ts';

/** Everything the CLI sees of the process around it, so that a test can be that process. */
export interface CliIo {
  /** Settles when the text has left the process; rejects with the system's error (EPIPE, ENOSPC). */
  readonly stdout: (text: string) => Promise<void>;
  readonly stderr: (text: string) => Promise<void>;
  /** Standard input to its end. */
  readonly stdin: () => Promise<Uint8Array>;
  /**
   * One line from the person at the terminal, asked for on stderr; undefined when the input ends first.
   * Rejects with `interrupted` on Ctrl-C. Called only when stdin and stderr are terminals.
   */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly env: Environment;
  /** Getters in life: finding out costs something, and only some commands want to know. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly columns: number | undefined;
  readonly cwd: string;
  /** The bytes of /proc/self/cmdline where there is one: argv as it was before Node decoded it. */
  readonly rawArgv: () => Uint8Array | undefined;
  /**
   * Ends the command with exit code 130. Leave it out and SIGINT kills the process, which shells report as
   * 130 too and which works even while SQLite waits for a lock; a listener would have to wait with it.
   */
  readonly interrupted?: AbortSignal;
}
