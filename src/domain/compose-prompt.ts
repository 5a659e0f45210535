import type { ConflictFile, StepResult, Verdict } from '#contract/attempt.ts';
import { quoteName } from '#kernel/name-files.ts';
import { DIFF_COMMAND } from './diff-command.ts';
import { fenceText } from './fence-text.ts';
import { findOrigin, quoteOutside, type OutsideTask } from './outside-text.ts';

/** What an agent is told. */
export interface PromptFacts {
  readonly task: OutsideTask & { readonly id: string };
  readonly role: string;
  readonly branch: string;
  /** What the role is told besides, from the agent's profile. */
  readonly template?: string | undefined;
  /** It is to answer with a plan, and not to work on it. */
  readonly plans?: boolean | undefined;
  /** What was done of it by itself, and is closed. */
  readonly subtasks?: readonly { readonly id: string; readonly title: string }[] | undefined;
  readonly earlier: EarlierWork;
}

/** What earlier runs and gates left behind; empty for a first one. */
export interface EarlierWork {
  readonly last_error?: string | undefined;
  readonly failed_step?: StepResult | undefined;
  readonly verdict?: Verdict | undefined;
  readonly conflicts?: readonly ConflictFile[] | undefined;
  readonly target?: string | undefined;
  readonly messages?: readonly { readonly author: string; readonly body: string }[] | undefined;
  /** The task as it reads now, where a person changed its text since the last run began. */
  readonly edited?: PromptFacts['task'] | undefined;
  /** What others commented since then. */
  readonly comments?: readonly { readonly author: string; readonly body: string }[] | undefined;
}

/** The whole assignment, for a conversation that begins. */
export function composePrompt(facts: PromptFacts): string {
  const { task, role, branch, template, plans = false, subtasks = [], earlier } = facts;
  return joinParts([
    ...describeTask(task),
    template,
    plans
      ? [`This is task ${task.id}; your role is ${role}.`, ...PLANNING].join('\n')
      : [
          `This is task ${task.id}; your role is ${role}. The folder you are in is a checkout of its own, on the branch ${branch}.`,
          'Change files in it and nowhere else. You need not commit: what you leave is committed for you.',
        ].join('\n'),
    plans || subtasks.length === 0 ? undefined : describeSubtasks(subtasks),
    describeEarlier(earlier),
  ]);
}

const PLANNING = [
  'You plan it and do not work on it: change no files. The folder you are in is a checkout to read; whatever is written there is thrown away.',
  'Answer with a JSON object: `summary`, `subtasks` and `checklist`. Each subtask has a `title`, a `description`, and in `depends_on` the positions, from 0, of those in the list that have to be done before.',
  'Make subtasks of what can be done and checked by itself; whoever works on one is told its title and description alone. The task itself goes on when all of them are closed. Where it is one piece of work, leave `subtasks` empty and say in `checklist` what has to be done.',
];

/** Their titles are the words of others: they are quoted, not told. */
function describeSubtasks(subtasks: NonNullable<PromptFacts['subtasks']>): string {
  const list = subtasks.map(({ id, title }) => `${id}: ${title}`).join('\n');
  return `It was divided into subtasks, which are closed; what they changed is in your checkout:\n\n${quote(list)}\n\nSee that together they do what the task asks for, and do what is missing. Where nothing is, change nothing.`;
}

/** What has come up since, for a conversation that goes on. */
export function composeFollowUp(earlier: EarlierWork): string {
  const { edited } = earlier;
  const now =
    edited === undefined
      ? []
      : ['Somebody has changed the task since you began. This is what it says now:', ...describeTask(edited)];
  return [...now, describeEarlier(earlier) ?? 'Go on with the task.'].join('\n\n');
}

/** What somebody is told who looks at the work of another. */
export function composeAudit({
  task,
  base,
  head,
  prompt,
}: {
  readonly task: PromptFacts['task'];
  readonly base: string;
  readonly head: string;
  readonly prompt?: string | undefined;
}): string {
  return joinParts([
    `# Review: ${nameTask(task)}`,
    'Somebody worked on this task:',
    quoteTask(task),
    prompt,
    [
      `The folder you are in holds the result, the commit ${head}. \`${DIFF_COMMAND} ${base} ${head}\` shows what was changed.`,
      'Change nothing. Decide whether the task is done, correctly and with nothing broken.',
      'Answer with a JSON object: `verdict` ("pass" or "reject"), `summary`, and `findings`, each with `severity` ("blocker", "major" or "minor"), `message`, and `file` and `line` where there is one. Reject only for what has to be corrected.',
    ].join('\n'),
  ]);
}

/** One of several attempts, as whoever chooses between them is shown it. */
export interface ShownAttempt {
  readonly number: number;
  readonly agent: string | null;
  readonly base: string;
  readonly head: string;
  readonly patch: string;
}

/** What somebody is told who chooses between several attempts at one task. */
export function composeChoice({
  task,
  attempts,
  prompt,
}: {
  readonly task: PromptFacts['task'];
  readonly attempts: readonly ShownAttempt[];
  readonly prompt?: string | undefined;
}): string {
  return joinParts([
    `# Choose: ${nameTask(task)}`,
    `${attempts.length} attempts were made at this task, and all of them pass the checks:`,
    quoteTask(task),
    prompt,
    ...attempts.map(({ number, agent, base, head, patch }) =>
      [
        `## Attempt ${number}${agent === null ? '' : `, by ${agent}`}`,
        `\`${DIFF_COMMAND} ${base} ${head}\` shows all of it:`,
        fenceText(patch),
      ].join('\n\n'),
    ),
    [
      'The folder you are in holds the state that they began with. Change nothing. Decide which attempt does the task best: correctly, with nothing broken, and no more than was asked for.',
      `Answer with a JSON object: \`attempt\` (${attempts.map(({ number }) => number).join(', ')}) and \`why\`.`,
    ].join('\n'),
  ]);
}

function describeTask(task: PromptFacts['task']): string[] {
  const origin = findOrigin(task);
  return [`# ${nameTask(task)}`, origin === undefined ? task.description : quoteOutside(task, origin)];
}

/** A title from outside is no heading. */
function nameTask(task: PromptFacts['task']): string {
  return findOrigin(task) === undefined ? task.title : `Task ${task.id}`;
}

function quoteTask(task: PromptFacts['task']): string {
  const origin = findOrigin(task);
  return origin === undefined ? quote(task.description) : quoteOutside(task, origin);
}

function quote(text: string): string {
  if (text.trim() === '') return '';
  return text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

function describeEarlier(earlier: EarlierWork): string | undefined {
  const {
    last_error,
    failed_step,
    verdict,
    conflicts = [],
    target = '',
    messages = [],
    comments = [],
  } = earlier;
  const parts = [
    last_error === undefined ? undefined : `The last try ended without success: ${last_error}`,
    failed_step === undefined ? undefined : describeStep(failed_step),
    verdict === undefined ? undefined : describeVerdict(verdict),
    conflicts.length === 0
      ? undefined
      : [
          `Your branch conflicts with ${target}, which is merged into your checkout now. Resolve the conflicts in these files and leave no markers:`,
          ...conflicts.map(({ path, kind }) => `- ${quoteName(path)} (${kind})`),
        ].join('\n'),
    ...messages.map(({ author, body }) => `${author} says:\n${body}`),
    ...comments.map(({ author, body }) => `${author} commented on the task:\n\n${quote(body)}`),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

function describeStep({ command, outcome, exit_code, output }: StepResult): string {
  const how = outcome === 'failed' ? `ended with ${exit_code ?? 'a signal'}` : `ended by ${outcome}`;
  return `The check \`${command}\` ${how}. Its last lines:\n\n${fenceText(output)}\n\nCorrect what is wrong; the check runs again when you are done.`;
}

function describeVerdict({ summary, findings }: Verdict): string {
  return [
    `The reviewer sent it back: ${summary}`,
    ...findings.map(({ severity, file, line, message }) => {
      const place = file === undefined ? '' : ` ${file}${line === undefined ? '' : `:${line}`}`;
      return `- ${severity}${place}: ${message}`;
    }),
  ].join('\n');
}

function joinParts(parts: readonly (string | undefined)[]): string {
  return `${parts.filter((part) => part !== undefined && part.trim() !== '').join('\n\n')}\n`;
}
