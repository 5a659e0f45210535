import type { Declaration, InputOf, OutputOf } from '#contract/declare.ts';
import type { Actor } from '#domain/actor.ts';
import type { Clock } from '#kernel/clock.ts';
import type { TaskStore } from '#store/store.ts';
import type { ProjectConfig } from '#sync/project-config.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';

/** What an operation works with. The surface says who asks and where; nothing of it comes from the input. */
export interface OperationContext {
  readonly clock: Clock;
  readonly cwd: string;
  /** Who asks. Called by operations that write; a read never pays for finding out. */
  readonly actor: () => Promise<Actor>;
  /** Throws not_a_project outside one. */
  readonly project: OpenProject;
  readonly host: Host;
}

export interface OpenProject {
  readonly paths: ProjectPaths;
  readonly config: ProjectConfig;
  readonly store: TaskStore;
}

/** The few things outside the store that operations of this room need done for them. */
export interface Host {
  /** `forge init` on the repository around `cwd`. */
  initProject(options: { prefix: string | undefined; name: string | undefined }): Promise<InitResult>;
  /** Runs a program by argv and waits; never through a shell. */
  run(
    command: 'git' | 'forge',
    args: readonly string[],
    options: { cwd: string; env?: Readonly<Record<string, string>> },
  ): Promise<{ stdout: string; stderr: string; exit: number }>;
  makeTemporaryFolder(prefix: string): Promise<string>;
  removeFolder(path: string): Promise<void>;
  /** One line to the person while a long operation goes on; silent under --json. */
  progress(line: string): void;
}

export interface InitResult {
  name: string;
  idPrefix: string;
  version: number;
  created_at: string;
  directory: string;
  database: string;
}

/** How text may look where it is going. */
export interface TextView {
  readonly color: boolean;
  readonly columns: number;
  /** Wall clock in ms, for "3 hours ago". */
  readonly now: number;
}

export interface Operation<D extends Declaration> {
  run(ctx: OperationContext, input: InputOf<D>): Promise<OutputOf<D>>;
  /** The answer for people, without the last newline. Text of others must be escaped in it. */
  text(output: OutputOf<D>, view: TextView): string;
}

/**
 * Binds a declaration to its implementation. The declaration comes in as a type only, so that a cold read
 * does not load its schemas.
 */
export function implement<D extends Declaration>(operation: Operation<D>): Operation<D> {
  return operation;
}
