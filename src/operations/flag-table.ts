import type { Declaration } from '#contract/declare.ts';
import type { Operation } from './operation.ts';

/**
 * What a command line may say, derived from the declarations by `scripts/generate.ts`. It exists so that a cold
 * command reads its flags without loading a schema: the table only accepts; whoever it does not understand is
 * sent on to commander and Zod, which own every error message.
 */
export interface FlagTable {
  /** Every command and alias, its words joined by a space, and the name of its operation. */
  readonly commands: Readonly<Record<string, string>>;
  /** By the operation's name. Built when it is asked for: a cold command needs one of them. */
  readonly entries: Readonly<Record<string, () => OperationEntry>>;
  /** The value of the global `--actor`. */
  readonly actor: FieldRule;
}

export interface OperationEntry {
  /** `task.create` */
  readonly name: string;
  readonly path: readonly string[];
  /** A second, shorter path. */
  readonly alias?: readonly string[];
  /**
   * Input fields that stand without a flag, in order; the optional ones come last and may be missing. The last one
   * may be a list, which takes all the words that are left.
   */
  readonly args: readonly string[];
  readonly needs: 'project' | 'repository' | 'nothing';
  /** Works on the checkout or terminal around it: never sent to a server. */
  readonly local?: true;
  /** It changes nothing. */
  readonly reads?: true;
  readonly fields: Readonly<Record<string, FieldRule>>;
  readonly required: readonly string[];
  /** Asked for on a terminal when it is missing. */
  readonly prompt?: { readonly field: string; readonly question: string };
  /** The field whose id says which project the command works on. */
  readonly route?: string;
  /** Fields of the answer, or of each of its rows: what `--fields` may name. */
  readonly output: readonly string[];
}

/**
 * One input field. `minLength`, `maxLength`, `pattern` and `values` speak of the value, of each element when
 * the kind is `strings`, and of each key when it is `assignments`.
 */
export interface FieldRule {
  readonly kind: 'boolean' | 'string' | 'integer' | 'enum' | 'strings' | 'assignments';
  /** Without the dashes; none for fields that stand without a flag. */
  readonly flag?: string;
  /** A second flag that reads the value from a file. */
  readonly file_flag?: string;
  /** It stands without a flag, and the word is the path of the file that holds the value. */
  readonly file_argument?: true;
  /** The flag takes all the words up to the next flag of the command. */
  readonly words?: true;
  /** The object field of the input that this is a key of. */
  readonly part_of?: string;
  /** The word `none` stands for null; of a list when it is its only one. */
  readonly nullable?: true;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Source and flags of a regular expression. */
  readonly pattern?: readonly [source: string, flags: string];
  readonly values?: readonly string[];
  readonly maxItems?: number;
  /** It names a task, so a shell can complete it. */
  readonly task?: true;
  /** Written as tables show it as well: `P1` is 1. */
  readonly priority?: true;
}

export interface GlobalFlags {
  readonly json: boolean;
  /** Only these fields of the answer. */
  readonly fields?: readonly string[];
  readonly actor?: string;
  /** As if started there. */
  readonly directory?: string;
  /** Sent to the server there instead of the local store. */
  readonly server?: string;
  /** False under `--no-color`; the terminal decides otherwise. */
  readonly color: boolean;
  readonly quiet: boolean;
}

/** A field, or one key of an assignments field, whose text is still in a file (`-`: standard input). */
export interface FileValue {
  readonly field: string;
  readonly key?: string;
  readonly path: string;
}

/** A command line that was understood. */
export interface Accepted {
  readonly operation: OperationEntry;
  /** Complete but for what `files` and the prompt still bring. */
  readonly input: Record<string, unknown>;
  readonly globals: GlobalFlags;
  readonly files: readonly FileValue[];
}

/** Any operation, for code that finds them by name. */
export type AnyOperation = Operation<Declaration>;

/** Global flags that stand alone, and those that take a value. No field of an operation may be called so. */
export const GLOBAL_SWITCHES = ['json', 'no-color', 'quiet'] as const;
export const GLOBAL_VALUES = ['fields', 'actor', 'directory', 'server'] as const;

/** All of them, in the order of the help. */
export function listOperationEntries({ entries }: FlagTable): OperationEntry[] {
  return Object.values(entries).map((build) => build());
}

/** How a field is written: `--priority`, or `<title>` when it stands without a flag. */
export function spellField(entry: OperationEntry, field: string): string {
  const { flag, file_argument } = entry.fields[field] ?? {};
  if (file_argument === true) return '<file>';
  return flag === undefined ? `<${field.replaceAll('_', '-')}>` : `--${flag}`;
}

/** The input as the operation wants it: what has flags of its own goes back into the object it is a part of. */
export function nestParts(
  { fields }: OperationEntry,
  flat: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(flat)) {
    const whole = fields[field]?.part_of;
    if (whole === undefined) input[field] = value;
    else input[whole] = { ...(input[whole] as object | undefined), [field]: value };
  }
  return input;
}
