import { sumUp, type JudgedItem, type JudgedPart } from './judge-item.ts';

const BEGIN = '<!-- begin of the score, written by npm run score -->';
const END = '<!-- end of the score -->';

/** The page with the figures in their place; at its end where it has none yet. */
export function toPage(page: string, items: readonly JudgedItem[]): string {
  const block = `${BEGIN}\n\n${toTable(items)}\n\n${END}`;
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) return `${page.trimEnd()}\n\n## What is measured\n\n${block}\n`;
  return `${page.slice(0, from)}${block}${page.slice(to + END.length)}`;
}

export function toTable(items: readonly JudgedItem[]): string {
  const rows = items.flatMap(({ number, gate, name, parts }) =>
    parts.map((part, at) => {
      const first = at === 0 ? `${number}${gate ? ' (gate)' : ''} | ${name}` : ' | ';
      return `| ${first} | ${part.what} | ${toFigure(part)} | ${part.state} | ${toSource(part)} |`;
    }),
  );
  const { earned, points, score, open, broken } = sumUp(items);
  const gates = [...broken, ...open].map(({ number }) => number).toSorted((one, other) => one - other);
  const cap = gates.length === 0 ? '' : `; capped, because of the gates ${gates.join(', ')}`;
  return [
    '| # | item | measured | cases | state | by |',
    '|---|---|---|---:|---|---|',
    ...rows,
    '',
    `${earned} of ${points} points, score ${score}${cap}. A part without a result is never counted as passed.`,
  ].join('\n');
}

function toFigure({ figure, target, measures }: JudgedPart): string {
  const numbers = [figure, target].map((one) => one.toLocaleString('en'));
  return measures.length === 0 ? `– of ${numbers[1]}` : `${numbers[0]} of ${numbers[1]}`;
}

function toSource({ measures, missing, when, state }: JudgedPart): string {
  if (measures.length === 0 || (state === 'not measured' && missing !== undefined)) return missing ?? '–';
  const files = [...new Set(measures.map(({ file }) => `\`${file}\``))].join(', ');
  const isSoak = measures.some(({ project }) => project === 'soak');
  return isSoak ? `${files} (${when === '' ? 'npm run test:soak' : when})` : files;
}
