import { assert } from '#kernel/assert.ts';
import type { GraphShape } from './graph-shape.ts';
import { type Dagre, type DagreResult, placeUnits, type Track } from './graph-svg-dagre.ts';
import {
  BOX,
  CARD,
  GAP,
  HANDLE,
  movePlacement,
  movePoints,
  type PlacedLink,
  type Placement,
  type Point,
  type Rect,
  type Size,
} from './graph-svg-geometry.ts';
import { endsOf, indexLevels, type Level, type LevelArc, portOf } from './graph-svg-levels.ts';
import { packLevel } from './graph-svg-pack.ts';

/** Where lines of a box itself meet its border: beside its title. */
const HEADER_MIDDLE = 15;

/**
 * Places every task of a graph of moderate size, with boxes around the tasks of one parent. Each box is laid
 * out alone and is then one unit of the level around it, so nothing can overlap.
 */
export async function placeNested(shape: GraphShape): Promise<Placement> {
  const dagre: Dagre = await import('@dagrejs/dagre');
  const levels = indexLevels(shape);
  const panels = new Map<string, Placement>();
  const place = (part: Level): Placement => placePart(dagre, part, panels);
  for (const box of shape.boxes.toReversed()) {
    const level = levels.get(box.id);
    if (level !== undefined) panels.set(box.id, frame(packLevel(level, { space: GAP.down, place })));
  }
  const paper = levels.get(null);
  assert(paper !== undefined, 'the paper is a level of every graph');
  return packLevel(paper, { space: GAP.parts, place });
}

function placePart(dagre: Dagre, level: Level, panels: ReadonlyMap<string, Placement>): Placement {
  const units = new Map<string, Size>();
  for (const item of level.items) units.set(`t${item.id}`, item.kind === 'handle' ? HANDLE : CARD);
  for (const box of level.boxes) units.set(`b${box.id}`, panels.get(box.id) ?? CARD);
  const lines: Lines = {
    arcs: level.arcs.map((arc) => [arc, { left: arc.left, right: arc.right, weight: weightOf(arc) }]),
    exits: [...level.exits].map(([port, unit]) => [port, { left: unit, right: null, weight: 1 }]),
    entries: [...level.entries].map(([port, unit]) => [port, { left: null, right: unit, weight: 1 }]),
  };
  const tracks = [...lines.arcs, ...lines.exits, ...lines.entries].map(([, track]) => track);
  const result = placeUnits(dagre, units, tracks, level.ranks);
  return assemble(level, lines, result, panels);
}

interface Lines {
  readonly arcs: readonly (readonly [LevelArc, Track & { left: string; right: string }])[];
  readonly exits: readonly (readonly [string, Track & { left: string }])[];
  readonly entries: readonly (readonly [string, Track & { right: string }])[];
}

function weightOf(arc: LevelArc): number {
  return arc.link.type === 'blocks' ? 3 : 1;
}

/** Puts the panels of the boxes where dagre wants them, and joins the pieces of every line. */
function assemble(
  level: Level,
  lines: Lines,
  result: DagreResult,
  panels: ReadonlyMap<string, Placement>,
): Placement {
  const origin = { x: -result.bounds.x, y: -result.bounds.y };
  const units = new Map(
    [...result.units].map(([key, rect]) => [key, { ...rect, x: rect.x + origin.x, y: rect.y + origin.y }] as const),
  );
  const wayOf = (track: Track): Point[] => movePoints(result.ways.get(track) ?? [], origin);
  const leave = (port: string, unit: string): Point[] => {
    const way = findPort({ port, unit, side: 'exits' }, units, panels);
    const x = (result.column_ends.get(unit) ?? 0) + origin.x;
    return [...way, ...way.slice(-1).map((last) => ({ x, y: last.y }))];
  };
  const enter = (port: string, unit: string): Point[] =>
    findPort({ port, unit, side: 'entries' }, units, panels);
  const inside = collect(level, units, panels);
  for (const [arc, track] of lines.arcs) {
    const [left, right] = endsOf(arc);
    const points = [
      ...leave(portOf(arc, left), track.left),
      ...wayOf(track),
      ...enter(portOf(arc, right), track.right),
    ];
    inside.links.push({ link: arc.link.link, points: arc.reversed ? points.toReversed() : points });
  }
  return {
    ...inside,
    width: result.bounds.width,
    height: result.bounds.height,
    exits: new Map(lines.exits.map(([port, track]) => [port, [...leave(port, track.left), ...wayOf(track)]])),
    entries: new Map(
      lines.entries.map(([port, track]) => [port, [...wayOf(track), ...enter(port, track.right)]]),
    ),
  };
}

/** Where a line meets a unit: the way inside a box, its border beside the header, or the middle of a card. */
function findPort(
  at: { port: string; unit: string; side: 'exits' | 'entries' },
  units: ReadonlyMap<string, Rect>,
  panels: ReadonlyMap<string, Placement>,
): Point[] {
  const rect = units.get(at.unit);
  if (rect === undefined) return [];
  const isBox = at.unit.startsWith('b');
  const way = isBox ? panels.get(at.unit.slice(1))?.[at.side].get(at.port) : undefined;
  if (way !== undefined) return movePoints(way, rect);
  const y = rect.y + (isBox ? HEADER_MIDDLE : rect.height / 2);
  return [{ x: at.side === 'exits' ? rect.x + rect.width : rect.x, y }];
}

function collect(
  level: Level,
  units: ReadonlyMap<string, Rect>,
  panels: ReadonlyMap<string, Placement>,
): { items: Map<string, Rect>; boxes: Map<string, Rect>; links: PlacedLink[] } {
  const items = new Map<string, Rect>();
  const boxes = new Map<string, Rect>();
  const links: PlacedLink[] = [];
  for (const item of level.items) {
    const rect = units.get(`t${item.id}`);
    if (rect !== undefined) items.set(item.id, rect);
  }
  for (const box of level.boxes) {
    const rect = units.get(`b${box.id}`);
    const panel = panels.get(box.id);
    if (rect === undefined || panel === undefined) continue;
    const placed = movePlacement(panel, rect);
    boxes.set(box.id, rect);
    for (const [id, inner] of placed.items) items.set(id, inner);
    for (const [id, inner] of placed.boxes) boxes.set(id, inner);
    links.push(...placed.links);
  }
  return { items, boxes, links };
}

/** With the room that a box needs around it, and its ways led to the border. */
function frame(panel: Placement): Placement {
  const width = panel.width + 2 * BOX.side;
  const moved = movePlacement(panel, { x: BOX.side, y: BOX.header });
  const exits = [...moved.exits].map(
    ([port, way]) => [port, [...way, ...way.slice(-1).map(({ y }) => ({ x: width, y }))]] as const,
  );
  const entries = [...moved.entries].map(
    ([port, way]) => [port, [...way.slice(0, 1).map(({ y }) => ({ x: 0, y })), ...way]] as const,
  );
  return {
    ...moved,
    width,
    height: panel.height + BOX.header + BOX.below,
    exits: new Map(exits),
    entries: new Map(entries),
  };
}
