import type { GraphView } from '#contract/graph-operations.ts';
import { toLine } from './graph-label.ts';
import { type GraphShape, LOOKS, toShape } from './graph-shape.ts';
import { drawBox, drawBoxHeader, drawItem, round } from './graph-svg-card.ts';
import { findColumns } from './graph-svg-columns.ts';
import { CARD, type LinkPoint, type PlacedLink, type Placement } from './graph-svg-geometry.ts';
import { placeLayered } from './graph-svg-layered.ts';
import { placeNested } from './graph-svg-layout.ts';
import { drawLegend } from './graph-svg-legend.ts';
import { styleSheet } from './graph-svg-style.ts';
import { escapeXml, fitLine } from './graph-text.ts';

const MARGIN = 32;
const HEADER = 92;
const MIN_WIDTH = 420;
/** Dagre takes 0.4 s for 600 tasks with 800 links, and grows faster than they do. */
const DAGRE_NODES = 600;
/**
 * Tasks with links, and the columns that all links cross together: each is a node to dagre. Two columns of 50 tasks
 * that all wait for each other (2,600) took it 3 s, five links for each of 539 tasks (2,989) took 21 s.
 */
const DAGRE_WORK = 1_600;
/** The same in a server: dagre lays out in one go, and 330 took 0.1 s. */
const DAGRE_WORK_SERVED = 300;
/** Tasks of one box in one column; dagre cannot break a column in two. */
const DAGRE_STACK = 50;

/**
 * The graph as a picture that stands alone: no script, no font, nothing to load. The same graph gives the same
 * bytes, in any order of its tasks. The caller limits the number of tasks (`LIMITS.graph_svg`).
 * A server draws the simpler picture sooner, and lets others in between the steps of its work.
 */
export async function toSvg(
  graph: GraphView,
  options: { title: string; served?: boolean | undefined },
): Promise<string> {
  if (graph.nodes.length === 0) return drawEmpty(options.title);
  const { shape, placement } = await placeGraph(graph, options.served === true);
  if (options.served === true) await letOthersIn();
  const width = Math.max(MIN_WIDTH, placement.width + 2 * MARGIN);
  const legend = drawLegend(shape, width - 2 * MARGIN);
  const bottom = HEADER + placement.height;
  const height = bottom + 28 + legend.height + 20;
  const summary = summarize(graph, shape);
  const heading = fitLine(options.title, { width: width - 2 * MARGIN, size: 20 });
  return drawPage({ width, height, label: `${options.title}: ${summary}` }, [
    `<text class="heading" x="${MARGIN}" y="46">${escapeXml(heading)}</text>`,
    `<text class="summary soft" x="${MARGIN}" y="68">${escapeXml(summary)}</text>`,
    `<g transform="translate(${MARGIN} ${HEADER})">`,
    ...drawPlacement(shape, placement),
    '</g>',
    `<g transform="translate(${MARGIN} ${round(bottom + 28)})">${legend.svg}</g>`,
  ]);
}

async function placeGraph(
  graph: GraphView,
  served: boolean,
): Promise<{ shape: GraphShape; placement: Placement }> {
  const work = served ? DAGRE_WORK_SERVED : DAGRE_WORK;
  // A link crosses one column or more, so that a graph with too many links need not be looked at.
  if (graph.nodes.length <= DAGRE_NODES && graph.edges.length <= work) {
    const nested = toShape(graph, { boxes: 'nested', handles: 'inner' });
    if (isForDagre(nested, work)) return { shape: nested, placement: await placeNested(nested) };
  }
  const flat = toShape(graph, { boxes: 'none', handles: 'inner' });
  if (served) await letOthersIn();
  return { shape: flat, placement: placeLayered(flat) };
}

function letOthersIn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function isForDagre(shape: GraphShape, work: number): boolean {
  const { arcs, items } = findColumns(shape);
  const columnOf = (id: string): number => items.get(id) ?? 0;
  const crossings = arcs.reduce((sum, arc) => sum + columnOf(arc.right) - columnOf(arc.left), 0);
  const linked = shape.items.filter((item) => items.has(item.id));
  const stacks = [...Map.groupBy(linked, (item) => JSON.stringify([item.box, columnOf(item.id)])).values()];
  return linked.length + crossings <= work && stacks.every((stack) => stack.length <= DAGRE_STACK);
}

function drawPlacement(shape: GraphShape, placement: Placement): string[] {
  const frames = shape.boxes.flatMap((box) => {
    const rect = placement.boxes.get(box.id);
    return rect === undefined ? [] : [{ frame: drawBox(box, rect), header: drawBoxHeader(box, rect) }];
  });
  const cards = shape.items.flatMap((item) => {
    const rect = placement.items.get(item.id);
    return rect === undefined ? [] : [drawItem(item, rect)];
  });
  // What still waits lies over what is settled.
  const links = placement.links.toSorted((a, b) => Number(b.link.settled) - Number(a.link.settled));
  return [
    ...frames.map(({ frame }) => frame),
    ...links.map(drawLink),
    ...frames.map(({ header }) => header),
    ...cards,
  ];
}

function drawLink({ link, points }: PlacedLink): string {
  const state = link.settled ? ' settled' : '';
  const marker = link.settled ? 'forge-graph-arrow-settled' : 'forge-graph-arrow';
  const head = link.type === 'related' ? '' : ` marker-end="url(#${marker})"`;
  return `<path class="link ${link.type}${state}" d="${toPath(points)}"${head}/>`;
}

/** Level at every point, an S between two; straight where both are at one height. */
function toPath(points: readonly LinkPoint[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${round(first.x)} ${round(first.y)}`;
  let from = first;
  for (const to of rest) {
    const middle = round((from.x + to.x) / 2 + (to.aside ?? 0));
    path +=
      round(from.y) === round(to.y)
        ? `H${round(to.x)}`
        : `C${middle} ${round(from.y)} ${middle} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
    from = to;
  }
  return path;
}

function summarize(graph: GraphView, shape: GraphShape): string {
  const total = graph.nodes.length === 1 ? '1 task' : `${graph.nodes.length} tasks`;
  const looks = [...shape.boxes, ...shape.items.filter((item) => item.kind === 'task')].map(
    (part) => part.look,
  );
  const counts = LOOKS.map((look) => [look, looks.filter((other) => other === look).length] as const)
    .filter(([, count]) => count > 0)
    .map(([look, count]) => `${count} ${look.replaceAll('_', ' ')}`);
  return [total, ...counts].join(' · ');
}

function drawEmpty(title: string): string {
  const size = { width: MIN_WIDTH, height: 220 };
  return drawPage({ ...size, label: `${title}: no tasks to draw` }, [
    `<text class="heading" x="${MARGIN}" y="46">${escapeXml(fitLine(title, { width: size.width - 2 * MARGIN, size: 20 }))}</text>`,
    `<g class="item unknown"><rect class="card" x="${MARGIN}" y="70" width="${size.width - 2 * MARGIN}" height="118" rx="12"/></g>`,
    `<text class="summary middle" x="${size.width / 2}" y="122">Nothing to draw: no task is open here.</text>`,
    `<text class="mono soft middle" x="${size.width / 2}" y="146">forge task create "First task"</text>`,
  ]);
}

function drawPage(page: { width: number; height: number; label: string }, body: readonly string[]): string {
  const [width, height] = [Math.ceil(page.width), Math.ceil(page.height)];
  const label = escapeXml(toLine(page.label));
  const arrow = (id: string, classes: string): string =>
    `<marker id="${id}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="${classes}" d="M0 .8L10 5L0 9.2L2.4 5z"/></marker>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="forge-graph" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">`,
    `<title>${label}</title>`,
    `<style>${styleSheet()}</style>`,
    '<defs>',
    arrow('forge-graph-arrow', 'head'),
    arrow('forge-graph-arrow-settled', 'head settled'),
    `<clipPath id="forge-graph-card"><rect width="${CARD.width}" height="${CARD.height}" rx="10"/></clipPath>`,
    '</defs>',
    `<rect class="paper" width="${width}" height="${height}" rx="16"/>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}
