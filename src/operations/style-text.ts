import type { styleText } from 'node:util';
import type { Status } from '#contract/task.ts';
import type { TextView } from './operation.ts';

export type TextFormat = Parameters<typeof styleText>[0];

/**
 * Text in a colour or weight where the view has colours, else as it is. node:util is loaded only then: most
 * cold commands write to a pipe. Whether the stream can show it was decided before (`view.color`), so Node
 * must not decide again.
 */
export function style(view: Pick<TextView, 'color'>, format: TextFormat, text: string): string {
  if (!view.color || text === '') return text;
  return process.getBuiltinModule('node:util').styleText(format, text, { validateStream: false });
}

const STATUS_FORMATS: Readonly<Record<Status, TextFormat>> = {
  open: 'cyan',
  in_progress: 'yellow',
  closed: 'dim',
};

export function styleStatus(view: Pick<TextView, 'color'>, status: Status, text: string = status): string {
  return style(view, STATUS_FORMATS[status], text);
}

/** By number: what is critical stands out, what is parked steps back. */
const PRIORITY_FORMATS: readonly (TextFormat | undefined)[] = [
  ['red', 'bold'],
  'red',
  undefined,
  'dim',
  'dim',
];

export function stylePriority(
  view: Pick<TextView, 'color'>,
  priority: number,
  text: string = `P${priority}`,
): string {
  const format = PRIORITY_FORMATS[priority];
  return format === undefined ? text : style(view, format, text);
}
