import type { GraphView } from '#contract/graph-operations.ts';
import { describeLook, shorten, toLine } from './graph-label.ts';
import { LIGHT } from './graph-palette.ts';
import {
  type GraphShape,
  groupByBox,
  LOOKS,
  type ShapeBox,
  type ShapeItem,
  type ShapeLink,
  toShape,
} from './graph-shape.ts';

const TITLE_LENGTH = 60;
/** What Mermaid draws unless its page allows more; no directive in the text may raise it. */
const MERMAID_EDGES = 500;

/** Pairs that Mermaid still acts on after it has decoded a label: line break, formula, icon, its own marks. */
const PAIRS = /\\(?=n)|\$(?=\$)|:(?=\S)|\ufb02(?=\u00b0)|\u00b6(?=\u00df)/g;
const APART = '\u200c';

/** The graph for Markdown: GitHub, GitLab and most editors draw it. Pure; the same graph gives the same text. */
export function toMermaid(graph: GraphView): string {
  const shape = toShape(graph, { boxes: 'nested', handles: 'linked' });
  const names = nameItems(shape);
  const lines = ['flowchart LR'];
  if (shape.links.length > MERMAID_EDGES) {
    lines.push(
      `  %% ${shape.links.length} edges: Mermaid refuses more than ${MERMAID_EDGES} unless its maxEdges says otherwise`,
    );
  }
  if (shape.items.length + shape.boxes.length === 0) lines.push('  empty["No tasks to draw"]:::open');
  const parts = [
    ...drawInside(null, groupByBox(shape), names, '  '),
    ...shape.links.map((link) => `  ${drawLink(link, names)}`),
  ];
  for (const line of parts) lines.push(line);
  for (const look of LOOKS) {
    const tone = LIGHT[look];
    lines.push(`  classDef ${look} fill:${tone.fill},stroke:${tone.line},color:${tone.ink}`);
  }
  lines.push('  classDef unknown fill:#ffffff,stroke:#76839a,color:#3a4558,stroke-dasharray:4 3');
  lines.push('  classDef box fill:#8a97ad1f,stroke:#8a97ad,color:#76839a');
  return `${lines.join('\n')}\n`;
}

interface Names {
  readonly items: ReadonlyMap<string, string>;
  readonly boxes: ReadonlyMap<string, string>;
}

/** Names of their own, because a word such as `end` inside an id breaks Mermaid's parser. */
function nameItems(shape: GraphShape): Names {
  const taken = new Set<string>();
  const name = (mark: string, id: string): string => {
    const base = `${mark}_${id.replace(/[^A-Za-z0-9]/g, '_')}`;
    let free = base;
    for (let n = 2; taken.has(free); n += 1) free = `${base}_${n}`;
    taken.add(free);
    return free;
  };
  return {
    items: new Map(shape.items.map((item) => [item.id, name('t', item.id)] as const)),
    boxes: new Map(shape.boxes.map((box) => [box.id, name('box', box.id)] as const)),
  };
}

function drawInside(
  box: string | null,
  groups: ReturnType<typeof groupByBox>,
  names: Names,
  indent: string,
): string[] {
  const items = (groups.items.get(box) ?? []).map((item) => `${indent}${drawItem(item, names)}`);
  const boxes = (groups.boxes.get(box) ?? []).flatMap((inner) => [
    `${indent}subgraph ${names.boxes.get(inner.id)}["${boxLabel(inner)}"]`,
    ...drawInside(inner.id, groups, names, `${indent}  `),
    `${indent}end`,
    `${indent}class ${names.boxes.get(inner.id)} box`,
  ]);
  return [...items, ...boxes];
}

function boxLabel(box: ShapeBox): string {
  return escapeLabel(`${box.id} ${shorten(box.task.title, TITLE_LENGTH)} (${describeLook(box)})`);
}

function drawItem(item: ShapeItem, names: Names): string {
  const name = names.items.get(item.id);
  if (item.kind === 'handle') return `${name}(["${escapeLabel(item.id)}"]):::${item.look}`;
  if (item.task === null) return `${name}["${escapeLabel(item.id)}<br/>not in this graph"]:::unknown`;
  const { task } = item;
  const facts = [
    item.id,
    `P${task.priority}`,
    ...(task.type === 'task' ? [] : [task.type]),
    describeLook(item),
    ...(task.assignee === null ? [] : [shorten(task.assignee, 24)]),
    ...(item.parent_mark === null ? [] : [`in ${item.parent_mark}`]),
  ];
  const label = `${escapeLabel(facts.join(' · '))}<br/>${escapeLabel(shorten(task.title, TITLE_LENGTH))}`;
  return `${name}["${label}"]:::${item.look}`;
}

function drawLink(link: ShapeLink, names: Names): string {
  const from = names.items.get(link.from);
  const to = names.items.get(link.to);
  switch (link.type) {
    case 'blocks':
      return `${from} --> ${to}`;
    case 'related':
      return `${from} -. related .- ${to}`;
    case 'discovered-from':
      return `${from} -. discovered .-> ${to}`;
  }
}

/**
 * Mermaid reads labels as HTML and as Markdown, so every ASCII character with a possible meaning becomes its
 * number; letters, digits and what is beyond ASCII stay legible in the source.
 */
export function escapeLabel(text: string): string {
  return toLine(text)
    .replace(PAIRS, (found) => `${found}${APART}`)
    .replace(/[^A-Za-z0-9 \u0080-\uffff]/g, (found) => `#${found.charCodeAt(0)};`);
}
