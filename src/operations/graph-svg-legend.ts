import type { DependencyType } from '#contract/task.ts';
import { type GraphShape, LOOKS } from './graph-shape.ts';
import { measure } from './graph-text.ts';

const ROW = 24;
const WORDS: Readonly<Record<DependencyType, string>> = {
  blocks: 'blocks',
  related: 'related',
  'discovered-from': 'led to',
};

/** What the colours and lines of this very graph mean, in as many rows as the width needs. */
export function drawLegend(
  shape: GraphShape,
  width: number,
): { readonly svg: string; readonly height: number } {
  const looks = new Set([...shape.items, ...shape.boxes].map((part) => part.look));
  const types = new Set(shape.links.map((link) => link.type));
  const entries = [
    ...LOOKS.filter((look) => looks.has(look)).map((look) => ({
      word: look.replaceAll('_', ' '),
      sign: 14,
      svg: `<g class="${look}"><circle class="bar" cx="4" cy="-4" r="4"/></g>`,
    })),
    ...(['blocks', 'discovered-from', 'related'] as const)
      .filter((type) => types.has(type))
      .map((type) => ({
        word: WORDS[type],
        sign: 40,
        svg: `<path class="link ${type}" d="M0 -4H32"${type === 'related' ? '' : ' marker-end="url(#forge-graph-arrow)"'}/>`,
      })),
    ...(shape.links.some((link) => link.settled)
      ? [
          {
            word: 'no longer blocks',
            sign: 40,
            svg: '<path class="link settled" d="M0 -4H32" marker-end="url(#forge-graph-arrow-settled)"/>',
          },
        ]
      : []),
  ];
  let [x, y] = [0, 12];
  const parts = entries.map(({ word, sign, svg }) => {
    const needed = sign + measure(word, 11);
    if (x > 0 && x + needed > width) [x, y] = [0, y + ROW];
    const part = `<g transform="translate(${Math.round(x)} ${y})">${svg}<text class="soft" x="${sign}">${word}</text></g>`;
    x += needed + 22;
    return part;
  });
  return { svg: parts.join(''), height: y };
}
