import type { listConflicts } from '#contract/sync-operations.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { implement } from './operation.ts';

const SHOWN = 60;

export const conflictList = implement<typeof listConflicts>({
  run: (ctx, input) => ctx.project.store.listConflicts(input.id),
  text(conflicts) {
    if (conflicts.length === 0) return 'No value lost a merge';
    const whole = new Set(conflicts.map(({ id }) => id)).size === 1;
    return conflicts
      .map(({ id, title, name, lost, stands, at }) => {
        const show = (value: unknown): string =>
          whole ? escapeText(toText(value)) : cut(escapeLine(toText(value)));
        const head = `${id}  ${escapeLine(title)}`;
        if (name === 'deleted')
          return `${head}\n  deleted ${at} and edited after that; to have it back: forge task restore ${id}`;
        return `${head}\n  ${escapeLine(name)} stands: ${show(stands)}\n  ${escapeLine(name)} lost (${at}): ${show(lost)}`;
      })
      .join('\n');
  },
});

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN - 1)}…`;
}
