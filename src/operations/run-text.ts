import type { Approval, Run } from '#contract/attempt.ts';
import type { LogLine, TranscriptEntry } from '#contract/transcript.ts';
import { describeUsage } from '#domain/describe-usage.ts';
import { escapeLine } from '#kernel/text.ts';
import type { TextView } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

/** Enough of an id to name it. */
export const SHORT_ID = 8;

export function runTable(view: TextView, runs: readonly Run[]): string {
  return tableText<Run>(
    view,
    [
      { header: 'RUN', value: ({ id }) => id.slice(0, SHORT_ID), style: (text) => style(view, 'bold', text) },
      { header: 'TASK', value: ({ task_id }) => task_id },
      { header: 'AGENT', value: ({ agent }) => agent, flexible: 'first', minimum: 8 },
      { header: 'ROLE', value: ({ role }) => role },
      { header: 'STATE', value: stateOf },
      { header: 'STARTED', value: ({ started_at }) => started_at?.replace(/\.\d+/, '') ?? '' },
      { header: 'MESSAGE', value: ({ message }) => message ?? '', flexible: true, minimum: 20 },
    ],
    runs,
  );
}

/** `failed (timeout)`: the outcome where it says more than the state. */
export function stateOf({ state, outcome }: Pick<Run, 'state' | 'outcome'>): string {
  return outcome === null || outcome === state ? state : `${state} (${outcome})`;
}

/** One line an entry, whatever is in it; of what a program wrote, its own lines. */
export function logText(line: LogLine): string {
  const at = line.at.slice(11, 19);
  const lines = line.kind === 'output' ? line.text.split('\n').map((text) => ({ ...line, text })) : [line];
  return lines.map((one) => escapeLine(`${at}  ${describeEntry(one)}`)).join('\n');
}

export function describeEntry(line: TranscriptEntry): string {
  switch (line.kind) {
    case 'message':
      return `${line.role}: ${line.text}`;
    case 'thought':
      return `thought: ${line.text}`;
    case 'tool_call':
      return `${line.tool} ${toText(line.input)}`;
    case 'tool_result':
      return `${line.is_error ? 'error' : 'result'}: ${line.text}`;
    case 'approval':
      return `leave for ${line.request ?? line.tool}: ${line.decision}`;
    case 'usage':
      return `usage: ${describeUsage(line.usage)}`;
    case 'error':
      return `error ${line.code}: ${line.text}`;
    case 'output':
      return line.stream === 'stderr' ? `stderr: ${line.text}` : line.text;
    case 'note':
      return `-- ${line.text}`;
  }
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** `npm test …` for all that begins so; a line that stands for itself. */
export function describeRule({ always }: Pick<Approval, 'always'>): string {
  return always === null ? '' : always.kind === 'prefix' ? `${always.text} …` : always.text;
}

/** What a person allowed for the rest of a task, with what takes it back. */
export function ruleLines(always: readonly Approval[]): string[] {
  return always.map((one) =>
    escapeLine(
      `Always allowed: ${describeRule(one)} (${one.answered_by ?? ''}; forge runs forget ${one.run_id.slice(0, SHORT_ID)} --approval ${one.id.slice(0, SHORT_ID)})`,
    ),
  );
}
