/** Files and settings that would run a program, or lead out of the repository, if somebody obeyed them. */
export interface HostileRepository {
  readonly name: string;
  /** Over those of an innocent project; they arrive by `git clone`. */
  readonly files?: (canary: Canary) => Readonly<Record<string, HostileFile>>;
  /** Keys of `.forge/config.json`. */
  readonly config?: (canary: Canary) => object;
  /** Fields of each of the tasks. */
  readonly task?: (canary: Canary) => object;
  /** Text at the end of `.git/config` of the clone. */
  readonly settings?: (canary: Canary) => string;
  /** Files below `.git` of the clone. */
  readonly inside?: (canary: Canary) => Readonly<Record<string, HostileFile>>;
  /** Whatever else has to be done in the clone. */
  readonly prepare?: (canary: Canary) => string;
  /** A line of a shell that does what the repository wants done: it leaves a mark, so the trap is a real one. */
  readonly careless: (canary: Canary) => string;
  /** Whether that sends packets and does nothing else. */
  readonly sends?: true;
  /**
   * Programs that the user's own git settings name, with the operations that have to run them: filters where files are
   * checked out, the way to the remote in an exchange with it.
   */
  readonly may?: Readonly<Record<string, readonly string[]>>;
}

export type HostileFile =
  | string
  | { readonly link: string }
  | { readonly text: string; readonly mode: number };

export interface Canary {
  /** A line of a shell that leaves a mark of this name. */
  readonly run: (name: string) => string;
  /** A program that does so; a filter passes its input on, all others fail. */
  readonly program: (name: string) => string;
  /** A folder beside the repository with files that must stay as they are. */
  readonly treasure: string;
  /** The clone. */
  readonly path: string;
}

export const executable = (text: string): HostileFile => ({ text: `#!/bin/sh\n${text}\n`, mode: 0o755 });
