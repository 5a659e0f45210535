import { escapeLine } from '#kernel/text.ts';
import type { TextView } from './operation.ts';
import { tableText } from './table-text.ts';

interface HookRow {
  readonly hook: string;
  readonly file: string;
  readonly state: string;
  readonly advice?: string | undefined;
}

/** One line a hook, then what a person can do about those that Forge leaves alone. */
export function hookLines(hooks: readonly HookRow[], view: TextView): string {
  const table = tableText(
    view,
    [
      { header: 'HOOK', value: (row) => row.hook },
      { header: 'STATE', value: (row) => row.state },
      { header: 'FILE', value: (row) => row.file, flexible: true, minimum: 20 },
    ],
    hooks,
  );
  const advice = hooks.flatMap((row) => (row.advice === undefined ? [] : [escapeLine(row.advice)]));
  return [table, ...new Set(advice)].join('\n');
}
