import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clone, Clones } from './git-clones.ts';
import type { Field, Line, ScriptModel, Value } from './script-model.ts';
import type { Person } from './script-steps.ts';

export const FILE = '.forge/tasks.jsonl';

/** A clone and what its person knows of it. */
export interface Place {
  readonly name: Person;
  clone: Clone;
  /** What was edited in the file and seen by no command and no commit: git may throw it away. */
  pending: { isDoubtful: boolean }[];
  /** The same of the last commit, which may be undone. */
  committed: Place['pending'];
  /** The store may hold what the file does not. */
  isUnexported: boolean;
}

export interface ScriptWorld {
  readonly clones: Clones<Person>;
  /** The words of `forge init`. */
  readonly init: readonly string[];
  /** Where the task file is tracked: `main`, or the branch of branch mode. */
  readonly trunk: string;
  readonly model: ScriptModel;
  readonly tasks: string[];
  readonly places: Readonly<Record<Person, Place>>;
  /** The history in words. */
  readonly told: string[];
}

export function isBranchMode({ trunk }: ScriptWorld): boolean {
  return trunk !== 'main';
}

/** Any command of Forge reads the file first. */
export async function forge(
  world: ScriptWorld,
  place: Place,
  ...args: string[]
): Promise<{ exit: number; stdout: string }> {
  const { exit, stdout, stderr } = await place.clone.run(...args);
  world.told.push(
    `   ${place.name}$ forge ${args.join(' ')}${exit === 0 ? '' : ` -> ${exit} ${stderr.trim()}`}`,
  );
  place.pending = [];
  place.isUnexported = !(exit === 0 && (args[0] === 'export' || args[0] === 'commit'));
  if (/internal|TypeError|SQLITE/.test(stderr)) throw new Error(stderr);
  return { exit, stdout };
}

/** Whether git did it. */
export function git(
  world: ScriptWorld,
  { name, clone }: Pick<Place, 'name' | 'clone'>,
  ...args: string[]
): boolean {
  const { exit, output } = clone.tryGit(args);
  const said = exit === 0 ? '' : ` -> ${exit} ${output.trim().split('\n').slice(-2).join(' | ')}`;
  world.told.push(`   ${name}$ git ${args.join(' ')}${said}`);
  return exit === 0;
}

export async function findTask(place: Place, id: string): Promise<Line | undefined> {
  const { exit, stdout } = await place.clone.run('task', 'show', id, '--json');
  place.pending = [];
  place.isUnexported = true;
  return exit === 0 ? (JSON.parse(stdout) as Line) : undefined;
}

/** The lines that are tasks. Undefined without a file, or where git left conflicts in it. */
export function readLines(clone: Clone): Line[] | undefined {
  if (!existsSync(join(clone.path, FILE))) return undefined;
  const text = clone.read(FILE);
  if (/^[<=>]{7}/m.test(text)) return undefined;
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

export function setValue(line: Line, field: Field, value: Value): Line {
  if (field !== 'metadata.k') return { ...line, [field]: value };
  return { ...line, metadata: { ...(line['metadata'] as Record<string, unknown> | undefined), k: value } };
}
