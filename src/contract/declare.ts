import type * as z from 'zod';
import type { ErrorCode } from '#kernel/errors.ts';

/** How one input field looks on a command line; everything else follows from its schema. */
export interface FlagHint {
  /** Without the dashes; the field's name with hyphens when left out. */
  readonly flag?: string;
  /** Shown in help: `--assignee <identity>`. */
  readonly placeholder?: string;
  /** A second flag that reads the value from a file, `-` for standard input. */
  readonly file_flag?: string;
  /** For a field that stands without a flag: the word is the path of the file that holds it, `-` standard input. */
  readonly file_argument?: true;
  /** For a list: the flag takes all the words up to the next flag of the command, and repeats besides. */
  readonly words?: true;
  /** For an object: its keys have flags of their own, and it has none. */
  readonly parts?: Readonly<Record<string, FlagHint>>;
}

export interface CliHints {
  /** `["task", "create"]` */
  readonly path: readonly string[];
  /** A second, shorter spelling: `["claim"]`. */
  readonly alias?: readonly string[];
  /** Input fields that stand without a flag, in order. */
  readonly args?: readonly string[];
  readonly flags?: Readonly<Record<string, FlagHint>>;
  readonly examples: readonly string[];
  /** Asked for on a terminal when it is missing. */
  readonly prompt?: { readonly field: string; readonly question: string };
}

/** How the operation looks over HTTP, under `/api/v1`. */
export interface HttpHints {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  /**
   * `/tasks/{id}/claim`: names in braces are input fields; `{project}` is the project and no field. A path without it
   * finds its project by the task's id, or is about the home. Fields that are not in the path come from the query
   * (get, delete) or from the JSON body.
   */
  readonly path: string;
  /** It may take minutes: it is answered early where the caller prefers that, and goes on. */
  readonly long?: true;
  /** 200 unless something new is made. */
  readonly ok?: 200 | 201;
  /** Other names for fields in the body or query, as the seeds spell them: `{ status: 'state' }`. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** How the operation looks to an MCP host. */
export interface McpHints {
  /** `forge_claim`. */
  readonly tool: string;
  /** Further names that call the same. */
  readonly aliases?: readonly string[];
  /** Input fields that the tool offers; all when left out. A short list costs fewer tokens in every conversation. */
  readonly fields?: readonly string[];
  /** For the host; the summary when left out. */
  readonly description?: string;
}

export interface Declaration<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** `area.verb` */
  readonly name: string;
  readonly summary: string;
  /** More than the summary says: one paragraph for help and the reference. */
  readonly about?: string;
  readonly input: I;
  readonly output: O;
  /** Besides what every operation may give: internal, invalid_input, not_a_project, and the store's. */
  readonly errors: readonly ErrorCode[];
  readonly access: 'read' | 'task' | 'exec' | 'admin';
  /** What must be around it: a Forge project, only a git repository, or nothing. */
  readonly needs: 'project' | 'repository' | 'nothing';
  /** Works on the caller's own checkout or terminal, so that no server can do it for somebody. */
  readonly local?: boolean;
  /** A read that waits for something to happen. So many at once are bounded, and none keeps another read waiting. */
  readonly waits?: true;
  readonly cli: CliHints;
  readonly http?: HttpHints;
  readonly mcp?: McpHints;
}

export function declare<I extends z.ZodObject, O extends z.ZodType>(
  declaration: Declaration<I, O>,
): Declaration<I, O> {
  return declaration;
}

export type InputOf<D> = D extends Declaration<infer I, infer _O> ? z.output<I> : never;
export type OutputOf<D> = D extends Declaration<infer _I, infer O> ? z.output<O> : never;
