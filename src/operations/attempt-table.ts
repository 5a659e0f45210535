import type { AttemptView } from '#contract/attempt.ts';
import { describeStray } from '#domain/describe-stray.ts';
import type { TextView } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { tableText } from './table-text.ts';

export function attemptTable(view: TextView, attempts: readonly AttemptView[]): string {
  return tableText<AttemptView>(
    view,
    [
      { header: 'NO', value: ({ number }) => String(number), align: 'right' },
      { header: 'ATTEMPT', value: ({ id }) => id.slice(0, SHORT_ID) },
      { header: 'STATE', value: ({ state }) => state },
      { header: 'AGENT', value: ({ agent }) => agent ?? '' },
      { header: 'RESULT', value: ({ result }) => result.replaceAll('_', ' ') },
      { header: 'FILES', value: ({ changes }) => String(changes?.files ?? ''), align: 'right' },
      { header: 'LINES', value: ({ changes }) => linesOf(changes), align: 'right' },
      { header: 'BRANCH', value: ({ branch }) => branch },
      { header: 'WHAT FAILED', value: explain, flexible: true, minimum: 20 },
    ],
    attempts,
  );
}

/** What failed, and that somebody left its branch. */
function explain(attempt: AttemptView): string {
  return [attempt.message, attempt.strayed === null ? null : describeStray(attempt)]
    .filter((text) => text !== null)
    .join('. ');
}

/** `+3 -1` */
export function linesOf(
  changes: { readonly insertions: number | null; readonly deletions: number | null } | null,
): string {
  if (changes === null) return '';
  const { insertions, deletions } = changes;
  return insertions === null ? 'binary' : `+${insertions} -${deletions ?? 0}`;
}
