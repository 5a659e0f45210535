import { DARK, LIGHT, type Tone } from './graph-palette.ts';
import { type Look, LOOKS } from './graph-shape.ts';

interface Paper {
  readonly paper: string;
  readonly card: string;
  readonly edge: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly settled: string;
  readonly box: string;
  readonly box_edge: string;
  /** The header of a box as it comes out, without transparency. */
  readonly halo: string;
  readonly chip: string;
  readonly urgent: readonly [string, string];
}

const LIGHT_PAPER: Paper = {
  paper: '#fafbfd',
  card: '#ffffff',
  edge: '#d5dce6',
  ink: '#1b2432',
  soft: '#5f6c80',
  line: '#6b7890',
  settled: '#bcc5d3',
  box: '#5b6cff',
  box_edge: '#5b6cff',
  halo: '#e2e5fc',
  chip: '#eef1f6',
  urgent: ['#c62a3d', '#b4570a'],
};

const DARK_PAPER: Paper = {
  paper: '#0f141b',
  card: '#171e28',
  edge: '#303b4b',
  ink: '#e8edf4',
  soft: '#98a5b8',
  line: '#8a98ae',
  settled: '#465267',
  box: '#8b98ff',
  box_edge: '#8b98ff',
  halo: '#22283c',
  chip: '#243040',
  urgent: ['#ff8590', '#ffb26b'],
};

/**
 * Every colour and font of the picture. Written out for both schemes, because viewers other than browsers know
 * no CSS variables; what does not know `@media` shows the light one. Scoped, so that it can stand in a page.
 */
export function styleSheet(): string {
  return [
    '.forge-graph text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif;font-size:11px}',
    '.forge-graph .mono{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}',
    '.forge-graph .heading{font-size:20px;font-weight:650}',
    '.forge-graph .summary{font-size:13px}',
    '.forge-graph .name{font-size:13px;font-weight:500}',
    '.forge-graph .box-name{font-size:12.5px;font-weight:600}',
    '.forge-graph .rank,.forge-graph .word{font-weight:600}',
    '.forge-graph .end{text-anchor:end}',
    '.forge-graph .middle{text-anchor:middle}',
    '.forge-graph .over text{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}',
    '.forge-graph .card,.forge-graph .box{stroke-width:1}',
    '.forge-graph .strong .card{stroke-width:1.5}',
    '.forge-graph .unknown .card{stroke-dasharray:5 4}',
    '.forge-graph .link{fill:none;stroke-width:1.6;stroke-linecap:round}',
    '.forge-graph .related,.forge-graph .discovered-from{stroke-dasharray:2 5}',
    '.forge-graph .discovered-from{stroke-dasharray:7 5}',
    '.forge-graph .icon{fill:none;stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round}',
    ...schemeRules(LIGHT_PAPER, LIGHT),
    '@media (prefers-color-scheme:dark){',
    ...schemeRules(DARK_PAPER, DARK),
    '}',
  ].join('\n');
}

function schemeRules(paper: Paper, tones: Readonly<Record<Look, Tone>>): string[] {
  return [
    `.forge-graph .paper{fill:${paper.paper}}`,
    `.forge-graph .card{fill:${paper.card};stroke:${paper.edge}}`,
    `.forge-graph .box{fill:${paper.box};fill-opacity:.06;stroke:${paper.box_edge};stroke-opacity:.32}`,
    `.forge-graph .box-header{fill:${paper.box};fill-opacity:.09}`,
    `.forge-graph text,.forge-graph .heading{fill:${paper.ink}}`,
    `.forge-graph .over text{stroke:${paper.halo}}`,
    `.forge-graph .soft{fill:${paper.soft}}`,
    `.forge-graph .icon{stroke:${paper.soft}}`,
    `.forge-graph .chip{fill:${paper.chip}}`,
    `.forge-graph .p0{fill:${paper.urgent[0]}}`,
    `.forge-graph .p1{fill:${paper.urgent[1]}}`,
    `.forge-graph .link{stroke:${paper.line}}`,
    `.forge-graph .head{fill:${paper.line}}`,
    `.forge-graph .settled.link{stroke:${paper.settled}}`,
    `.forge-graph .settled.head{fill:${paper.settled}}`,
    ...LOOKS.flatMap((look) => [
      `.forge-graph .${look} .bar{fill:${tones[look].line}}`,
      `.forge-graph .${look} .word{fill:${tones[look].ink}}`,
      `.forge-graph .${look}.strong .card{stroke:${tones[look].line}}`,
    ]),
    `.forge-graph .closed .card{fill:${paper.paper}}`,
    `.forge-graph .closed .name,.forge-graph .closed .box-name{fill:${paper.soft}}`,
  ];
}
