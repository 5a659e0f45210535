import type { GraphView } from '#contract/graph-operations.ts';
import { describeLook, shorten, toLine } from './graph-label.ts';
import { LIGHT } from './graph-palette.ts';
import { groupByBox, type ShapeBox, type ShapeItem, type ShapeLink, toShape } from './graph-shape.ts';
import { wrapLines } from './graph-text.ts';

const NAME_LENGTH = 34;
const BOX_TITLE_LENGTH = 68;
const TITLE = { width: 230, size: 11, lines: 2 } as const;

/** The graph for Graphviz. Pure; the same graph gives the same text. */
export function toDot(graph: GraphView): string {
  const shape = toShape(graph, { boxes: 'nested', handles: 'linked' });
  const lines = [
    'digraph forge {',
    '  rankdir=LR;',
    '  graph [fontname="Helvetica,Arial,sans-serif", fontsize=12, nodesep=0.3, ranksep=0.6];',
    '  node [shape=box, style="rounded,filled", fontname="Helvetica,Arial,sans-serif", fontsize=11, margin="0.16,0.1"];',
    '  edge [color="#76839a", arrowsize=0.7];',
  ];
  if (shape.items.length + shape.boxes.length === 0) {
    lines.push('  empty [label="No tasks to draw", style="rounded,dashed", color="#76839a"];');
  }
  const parts = [
    ...drawInside(null, groupByBox(shape), '  '),
    ...shape.links.map((link) => `  ${drawLink(link)}`),
  ];
  return `${[...lines, ...parts, '}'].join('\n')}\n`;
}

function drawInside(box: string | null, groups: ReturnType<typeof groupByBox>, indent: string): string[] {
  const items = (groups.items.get(box) ?? []).map((item) => `${indent}${drawItem(item)}`);
  const boxes = (groups.boxes.get(box) ?? []).flatMap((inner) => [
    `${indent}subgraph ${quote(`cluster_${inner.id}`)} {`,
    `${indent}  label=${quote(boxLabel(inner))}; labeljust=l; style="rounded,filled"; color="#c3cbd8"; fillcolor="#8a97ad1f"; fontcolor="#3a4558";`,
    ...drawInside(inner.id, groups, `${indent}  `),
    `${indent}}`,
  ]);
  return [...items, ...boxes];
}

function boxLabel(box: ShapeBox): string {
  return `${box.id}  ${shorten(box.task.title, BOX_TITLE_LENGTH)} (${describeLook(box)})`;
}

function drawItem(item: ShapeItem): string {
  const { task } = item;
  if (task === null) {
    return `${quote(item.id)} [label=${quote(item.id, 'not in this graph')}, style="rounded,dashed", color="#76839a", fontcolor="#3a4558"];`;
  }
  const tone = LIGHT[item.look];
  const colors = `fillcolor="${tone.fill}", color="${tone.line}", fontcolor="${tone.ink}", class="${item.look}"`;
  const tooltip = `tooltip=${quote(`${task.title} (${describeLook(item)})`)}`;
  if (item.kind === 'handle') {
    return `${quote(item.id)} [label=${quote(item.id)}, shape=box, height=0.3, ${colors}, ${tooltip}];`;
  }
  const facts = [
    item.id,
    `P${task.priority}`,
    ...(task.type === 'task' ? [] : [task.type]),
    describeLook(item),
  ];
  if (item.parent_mark !== null) facts.push(`in ${item.parent_mark}`);
  const label = quote(
    facts.join('  '),
    ...wrapLines(task.title, TITLE),
    ...(task.assignee === null ? [] : [shorten(task.assignee, NAME_LENGTH)]),
  );
  return `${quote(item.id)} [label=${label}, ${colors}, ${tooltip}];`;
}

function drawLink(link: ShapeLink): string {
  const ends = `${quote(link.from)} -> ${quote(link.to)}`;
  switch (link.type) {
    case 'blocks':
      return link.settled ? `${ends} [color="#b9c2d0"];` : `${ends};`;
    case 'related':
      return `${ends} [style=dashed, dir=none, constraint=false, tooltip="related"];`;
    case 'discovered-from':
      return `${ends} [style=dashed, arrowhead=vee, tooltip="discovered from"];`;
  }
}

/** A quoted string of one or more lines. Graphviz reads backslashes and HTML entities inside it. */
export function quote(...lines: string[]): string {
  const escaped = lines.map((line) =>
    toLine(line).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;'),
  );
  return `"${escaped.join('\\n')}"`;
}
