import { compareUrgency } from './graph-label.ts';
import type { GraphShape } from './graph-shape.ts';
import { type Dagre, type DagreResult, placeUnits, type Track } from './graph-svg-dagre.ts';
import {
  BOX,
  CARD,
  HANDLE,
  movePlacement,
  movePoints,
  type PlacedLink,
  type Placement,
  type Point,
  type Rect,
  type Size,
} from './graph-svg-geometry.ts';
import { indexLevels, type Level, type LevelArc } from './graph-svg-levels.ts';
import { packComponents } from './graph-svg-pack.ts';

/** A drawing of one level, with the ways that lead out of it. */
interface Panel extends Placement {
  /** From the end inside to the right border, by the id of the end. */
  readonly exits: ReadonlyMap<string, readonly Point[]>;
  /** From the left border to the end inside. */
  readonly entries: ReadonlyMap<string, readonly Point[]>;
}

/**
 * Places every task of a graph of moderate size, with boxes around the tasks of one parent. Each box is laid
 * out alone and is then one unit of the level around it, so nothing can overlap.
 */
export async function placeNested(shape: GraphShape): Promise<Placement> {
  const dagre: Dagre = await import('@dagrejs/dagre');
  const levels = indexLevels(shape);
  const panels = new Map<string, Panel>();
  for (const box of shape.boxes.toReversed()) {
    const level = levels.get(box.id);
    if (level !== undefined) panels.set(box.id, frame(placeLevel(dagre, level, panels)));
  }
  const paper = levels.get(null);
  if (paper === undefined) return { width: 0, height: 0, items: new Map(), boxes: new Map(), links: [] };
  return packComponents(paper, (part) => placeLevel(dagre, part, panels));
}

function placeLevel(dagre: Dagre, level: Level, panels: ReadonlyMap<string, Panel>): Panel {
  const units = new Map<string, Size>();
  for (const item of level.items) units.set(`t${item.id}`, item.kind === 'handle' ? HANDLE : CARD);
  for (const box of level.boxes) units.set(`b${box.id}`, panels.get(box.id) ?? CARD);
  const inner = level.arcs.map((arc): Track => ({
    left: arc.left,
    right: arc.right,
    weight: arc.link.link.type === 'blocks' ? 3 : 1,
  }));
  const exits = [...level.exits];
  const entries = [...level.entries];
  const tracks: Track[] = [
    ...inner,
    ...exits.map(([, unit]) => ({ left: unit, right: null, weight: 1 })),
    ...entries.map(([, unit]) => ({ left: null, right: unit, weight: 1 })),
    ...listRows(level).map(([left, right]) => ({ left, right, weight: 1, hidden: true as const })),
  ];
  const result = placeUnits(dagre, units, tracks, level.ranks);
  return assemble(level, result, panels);
}

function assemble(level: Level, result: DagreResult, panels: ReadonlyMap<string, Panel>): Panel {
  const origin = { x: -result.bounds.x, y: -result.bounds.y };
  const rects = new Map([...result.units].map(([key, rect]) => [key, { ...rect, x: rect.x + origin.x, y: rect.y + origin.y }] as const));
  const items = new Map<string, Rect>();
  const boxes = new Map<string, Rect>();
  const links: PlacedLink[] = [];
  for (const item of level.items) {
    const rect = rects.get(`t${item.id}`);
    if (rect !== undefined) items.set(item.id, rect);
  }
  for (const box of level.boxes) {
    const rect = rects.get(`b${box.id}`);
    const panel = panels.get(box.id);
    if (rect === undefined || panel === undefined) continue;
    const placed = movePlacement(panel, rect);
    boxes.set(box.id, rect);
    for (const [id, inside] of placed.items) items.set(id, inside);
    for (const [id, inside] of placed.boxes) boxes.set(id, inside);
    links.push(...placed.links);
  }
  const ways = result.ways.map((way) => movePoints(way, origin));
  const port = (end: string, unit: string, side: 'exits' | 'entries'): Point[] => {
    const rect = rects.get(unit);
    if (rect === undefined) return [];
    const inside = panels.get(unit.slice(1))?.[side].get(end);
    if (unit.startsWith('b') && inside !== undefined) return movePoints(inside, rect);
    // The border of a box beside its header, or the middle of a card.
    const y = rect.y + (unit.startsWith('b') ? BOX.header / 2 : rect.height / 2);
    return [{ x: side === 'exits' ? rect.x + rect.width : rect.x, y }];
  };
  level.arcs.forEach((arc, i) => {
    const points = [...port(endOf(arc, 'left'), arc.left, 'exits'), ...(ways[i] ?? []), ...port(endOf(arc, 'right'), arc.right, 'entries')];
    links.push({ link: arc.link.link, points: arc.reversed ? points.toReversed() : points });
  });
  let next = level.arcs.length;
  const exits = new Map<string, Point[]>();
  for (const [end, unit] of level.exits) exits.set(end, [...port(end, unit, 'exits'), ...(ways[next++] ?? [])]);
  const entries = new Map<string, Point[]>();
  for (const [end, unit] of level.entries) entries.set(end, [...(ways[next++] ?? []), ...port(end, unit, 'entries')]);
  return { width: result.bounds.width, height: result.bounds.height, items, boxes, links, exits, entries };
}

function endOf(arc: LevelArc, side: 'left' | 'right'): string {
  const { from, to } = arc.link.link;
  return (side === 'left') === arc.reversed ? to : from;
}

/** The panel with the room that its box needs around it, and its ways led to the border. */
function frame(panel: Panel): Panel {
  const by = { x: BOX.side, y: BOX.header };
  const width = panel.width + 2 * BOX.side;
  const exits = new Map<string, Point[]>();
  for (const [end, way] of panel.exits) {
    const last = way.at(-1);
    if (last !== undefined) exits.set(end, [...movePoints(way, by), { x: width, y: last.y + by.y }]);
  }
  const entries = new Map<string, Point[]>();
  for (const [end, way] of panel.entries) {
    const first = way[0];
    if (first !== undefined) entries.set(end, [{ x: 0, y: first.y + by.y }, ...movePoints(way, by)]);
  }
  return {
    ...movePlacement(panel, by),
    width,
    height: panel.height + BOX.header + BOX.below,
    exits,
    entries,
  };
}

/**
 * Tasks of a box without any link would stand in one tall column: pairs that put them in rows instead, as
 * long as the box is wide anyway.
 */
function listRows(level: Level): [string, string][] {
  const linked = new Set([
    ...level.arcs.flatMap((arc) => [arc.left, arc.right]),
    ...level.exits.values(),
    ...level.entries.values(),
  ]);
  const loose = level.items.filter((item) => !linked.has(`t${item.id}`)).toSorted(compareUrgency);
  const span = linked.size === 0 ? 1 : Math.max(...level.ranks.values()) + 1;
  const perRow = Math.max(span, Math.ceil(Math.sqrt(loose.length * 0.6)));
  return loose.flatMap((item, i): [string, string][] => {
    const next = loose[i + 1];
    return next === undefined || (i + 1) % perRow === 0 ? [] : [[`t${item.id}`, `t${next.id}`]];
  });
}
