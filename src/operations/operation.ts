import type { Declaration, InputOf, OutputOf } from '#contract/declare.ts';
import type { Actor } from '#domain/actor.ts';
import type { Holding } from '#domain/task-holding.ts';
import type { Workshop } from '#engine/workshop.ts';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import type { Clock } from '#kernel/clock.ts';
import type { TaskPosition } from '#store/store.ts';
import type { ProjectStore } from '#store/project-store.ts';
import type { Replication } from '#store/replication.ts';
import type { StoreCare } from '#store/store-care.ts';
import type { FoundProject } from '#sync/find-project.ts';
import type { FoldedFiles } from '#sync/fold-files.ts';
import type { ForeignTasks } from '#sync/foreign-tasks.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { HookChange, HookStatus } from '#sync/hook-blocks.ts';
import type { InitResult } from '#sync/initialise-project.ts';
import type { Machine } from '#sync/machine.ts';
import type { ProjectConfig } from '#sync/project-config.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import type { WorkflowCheck } from '#sync/workflow-file.ts';

/** What an operation works with. The surface says who asks and where; nothing of it comes from the input. */
export interface OperationContext {
  readonly clock: Clock;
  readonly cwd: string;
  /** Who asks. Most reads never pay for finding out. */
  readonly actor: () => Promise<Actor>;
  /** Throws not_a_project outside one. */
  readonly project: OpenProject;
  /** What belongs to the person: the Forge home and what is registered there. */
  readonly place: HomePlace;
  /** Another project than the one the command works on. */
  readonly openProject: (
    found: FoundProject,
    options?: { readonly lock_timeout_ms?: number },
  ) => Promise<OpenProject & AsyncDisposable>;
  /** The machine as functions of other rooms need to know it. */
  readonly machine: Machine;
  readonly host: Host;
  /** Whose task it must be for whatever is written; only where an agent's token asks. */
  readonly holding?: Holding | undefined;
  /** The task of the run that asks: what an agent creates from there is gated as its own work is. */
  readonly gated_by?: string | undefined;
  /** A command line, or a token that may run programs: what a person sets to run through it is trusted by that. */
  readonly vouches?: boolean | undefined;
  /** A command line, or a token with the scope of `project.trust`: a person may allow what a repository or an attempt brings. */
  readonly trusts?: boolean | undefined;
  /** What checks, merges and starts agents in this project; opened by the first who asks. */
  readonly workshop: () => Promise<Workshop>;
  /** Whether this process stays when the operation is done, so that it can watch what was started. */
  readonly stays: boolean;
  /** How much of a list is read in this turn; only where others are served in between. */
  readonly portion?: Portion | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of a list: the caller asks for the next one behind the place that it is told. */
export interface Portion {
  readonly max_bytes: number;
  /** Called where the list goes on behind the rows of the answer; not where they are as many as were asked for. */
  readonly goesOn: (after: TaskPosition) => void;
}

/** `done` of `total`, in whatever the work is counted; both 0 at its end. */
export type Meter = (label: string, done: number, total: number) => void;

export interface OpenProject {
  readonly paths: ProjectPaths;
  readonly config: ProjectConfig;
  /**
   * As it was at the last look, which each operation begins with. Throws invalid_input for a definition with faults; what
   * only shows tasks does without it.
   */
  readonly workflow: () => ResolvedWorkflow;
  /** For a process that stays: takes in what changed since. */
  readonly lookAtWorkflow: () => Promise<void>;
  /** Checks a definition, and remembers the last one; left out by a command that met none when it began. */
  readonly checkWorkflow?: WorkflowCheck | undefined;
  readonly store: ProjectStore & Replication & StoreCare;
  /** What the task files had to say when the project was opened. */
  readonly folded: FoldedFiles;
  /** What other projects say of their tasks that something here depends on; empty in most projects. */
  readonly foreign: ForeignTasks;
}

/** The few things outside the store that operations of this room need done for them. */
export interface Host {
  /** `forge init` on the repository around `cwd`. */
  initProject(options: InitWishes): Promise<InitResult>;
  /** Git's hooks in the project around `cwd`; `shared` allows to write outside the repository. */
  installHooks(options: { shared: boolean }): Promise<HookChange[]>;
  /** The same two in any repository: a project may be gone whose hooks are not. */
  uninstallHooks(options: { shared: boolean }): Promise<HookChange[]>;
  readHookStatus(): Promise<HookStatus[]>;
  /** Runs a program by argv and waits; never through a shell. */
  run(
    command: 'git' | 'forge',
    args: readonly string[],
    options: { cwd: string; env?: Readonly<Record<string, string>> },
  ): Promise<{ stdout: string; stderr: string; exit: number }>;
  /** `forge` on this terminal, as if it had been typed, with its exit code; undefined where nobody looks at one. */
  readonly runOnTerminal?:
    | ((
        args: readonly string[],
        options: { cwd: string; env?: Readonly<Record<string, string>> },
      ) => Promise<number>)
    | undefined;
  /** `forge serve`: resolves when the server answers; the process lives on with it until it is told to stop. */
  serve(wishes: ServeWishes): Promise<Served>;
  /** `forge mcp`: speaks the protocol on standard input and output until the input ends. */
  serveMcp(): Promise<void>;
  /** Shows lines to the person at the terminal and asks; `nobody` where there is none. Only a whole yes is one. */
  confirm(asked: {
    readonly lines: readonly string[];
    readonly question: string;
  }): Promise<'yes' | 'no' | 'nobody'>;
  makeTemporaryFolder(prefix: string): Promise<string>;
  /** At once, or when this process ends. */
  removeFolder(path: string, options?: { readonly at_exit?: boolean }): Promise<void>;
  /** Makes the folders on the way. */
  writeFile(path: string, text: string): Promise<void>;
  /** Somebody sits at a terminal and reads. */
  readonly interactive: boolean;
  /** One line to the person while a long operation goes on; silent under --json. */
  progress(line: string): void;
  /** One line that somebody should see, also beside JSON: on standard error. */
  notice(line: string): void;
  readonly meter: Meter;
  /** A part of the terminal to draw on; undefined where nobody looks at one. One at a time. */
  readonly openScreen?: (() => Promise<Screen | undefined>) | undefined;
}

/** The end of a terminal's text, drawn over itself. Lines of the command are printed above it. */
export interface Screen {
  /** The lines of the command go to the same terminal, and need not tell what the picture shows. */
  readonly is_output: boolean;
  /** Draws soon, and again when the window changes; calls in between become one picture. Lines must fit the size. */
  readonly show: (render: (size: ScreenSize) => readonly string[]) => void;
  /** Wipes the picture and gives the terminal back. */
  readonly close: () => void;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
}

export interface ServeWishes {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly open?: boolean | undefined;
  /** Start agents for whatever is ready. */
  readonly dispatch?: boolean | undefined;
  readonly tls_cert?: string | undefined;
  readonly tls_key?: string | undefined;
  readonly allow_insecure_network?: boolean | undefined;
}

export interface Served {
  readonly url: string;
  readonly pid: number;
  readonly token_file: string;
  readonly projects: readonly { readonly name: string; readonly prefix: string; readonly path: string }[];
}

export interface InitWishes {
  readonly prefix?: string | undefined;
  readonly name?: string | undefined;
  readonly stealth?: boolean | undefined;
  readonly branch?: string | undefined;
}

/** How text may look where it is going. */
export interface TextView {
  readonly color: boolean;
  readonly columns: number;
  /** Wall clock in ms, for "3 hours ago". */
  readonly now: number;
  /** How many rows were asked for, where that was said. */
  readonly limit?: number | undefined;
}

export interface Operation<D extends Declaration> {
  run(ctx: OperationContext, input: InputOf<D>): Promise<OutputOf<D>>;
  /** The answer for people, without the last newline. Text of others must be escaped in it. */
  text(output: OutputOf<D>, view: TextView): string;
  /** Of a command whose answer is told although it did not get where it was to; 0 when left out. */
  exit?(output: OutputOf<D>): number;
}

/**
 * Binds a declaration to its implementation. The declaration comes in as a type only, so that a cold read
 * does not load its schemas.
 */
export function implement<D extends Declaration>(operation: Operation<D>): Operation<D> {
  return operation;
}
