import { ForgeError } from '#kernel/errors.ts';
import { countOf, numberOf, textOf, toFields, type Fields } from './fields.ts';

/** What an agent did once, to be done again. */
export interface Trajectory {
  /** Only for this task. */
  readonly task?: string | undefined;
  /** Only where the prompt has these words in it. */
  readonly match?: string | undefined;
  readonly steps: readonly ScriptStep[];
}

export type ScriptStep = Fields;

/**
 * The steps, and what each of them needs.
 * - `write`, `append`: a file in the checkout gets this text. `delete`: it goes.
 * - `say`, `think`: words. `tool`: a call of a tool with its result, without doing anything.
 * - `ask`: asks for leave; when that is refused the step behind it is left out.
 * - `run`: a program by argv. `commit`: everything, with this message. `sleep_ms`: nothing for a while.
 * - `usage`: tokens and cost. `answer`: what the run is to return. `fail`: the end, with a reason. `exit`: the end,
 *   with this exit code and without another word.
 */
const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  write: isFile,
  append: isFile,
  delete: (value) => textOf(toFields(value)?.['path']) !== undefined,
  say: isText,
  think: isText,
  tool: (value) => textOf(toFields(value)?.['tool']) !== undefined,
  ask: (value) => textOf(toFields(value)?.['tool']) !== undefined,
  sleep_ms: (value) => (numberOf(value) ?? -1) >= 0,
  run: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  commit: isText,
  usage: (value) => toFields(value) !== undefined,
  answer: (value) => value !== undefined,
  fail: (value) => isText(value) || textOf(toFields(value)?.['message']) !== undefined,
  exit: (value) => countOf(value) !== undefined,
};

/** `{"steps": […]}`, or `{"trajectories": [{"task", "match", "steps"}, …]}`. */
export function parseTrajectories(text: string, path: string): readonly Trajectory[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fault(path, `is not valid JSON: ${(error as Error).message}`);
  }
  const file = toFields(value) ?? {};
  const list = file['trajectories'] ?? [file];
  if (!Array.isArray(list) || list.length === 0) throw fault(path, 'holds no trajectory');
  return list.map((one, at) => toTrajectory(one, at, path));
}

/** The first that fits. */
export function pickTrajectory(
  trajectories: readonly Trajectory[],
  run: { readonly task: string | undefined; readonly prompt: string },
): Trajectory | undefined {
  return trajectories.find(
    ({ task, match }) =>
      (task === undefined || task === run.task) && (match === undefined || run.prompt.includes(match)),
  );
}

function toTrajectory(value: unknown, at: number, path: string): Trajectory {
  const { task, match, steps } = toFields(value) ?? {};
  if (!Array.isArray(steps)) throw fault(path, `has no steps in trajectory ${at + 1}`);
  steps.forEach((step, number) => {
    const problem = findProblem(step);
    if (problem !== undefined) throw fault(path, `trajectory ${at + 1}, step ${number + 1}: ${problem}`);
  });
  return { task: textOf(task), match: textOf(match), steps };
}

function findProblem(step: unknown): string | undefined {
  const [name, ...more] = Object.keys(toFields(step) ?? {});
  if (name === undefined || more.length > 0) return 'a step has exactly one key';
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
  if (check === undefined) return `there is no step ${name}; there are ${Object.keys(CHECKS).join(', ')}`;
  return check(toFields(step)?.[name]) ? undefined : `${name} does not have what it needs`;
}

function fault(path: string, what: string): ForgeError {
  return new ForgeError('invalid_input', `The script ${path} ${what}`, { details: { path } });
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isFile(value: unknown): boolean {
  const { path, text } = toFields(value) ?? {};
  return isText(path) && isText(text);
}
