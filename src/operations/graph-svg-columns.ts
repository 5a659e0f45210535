import type { GraphShape, ShapeLink } from './graph-shape.ts';
import { countLooseColumns } from './graph-svg-blocks.ts';

/** A link with its ends in the order of the columns. */
export interface Arc {
  readonly link: ShapeLink;
  readonly left: string;
  readonly right: string;
  /** The arrow points from right to left. */
  readonly reversed: boolean;
}

export interface Columns {
  readonly arcs: readonly Arc[];
  /** The column of every item with a link. */
  readonly items: ReadonlyMap<string, number>;
  /** The first and the last column that a box with links of its own must cover. */
  readonly boxes: ReadonlyMap<string, readonly [number, number]>;
}

/** `to` stands at least `min` columns right of `from`. */
interface Rule {
  readonly from: string;
  readonly to: string;
  readonly min: number;
  /** How much a short way is worth. */
  readonly weight: number;
  readonly link: ShapeLink | null;
}

/** More than all the links that do not block can weigh together, and more than all links. */
const BLOCKING = 1e5;
const BINDING = 1e10;
const SWEEPS = 4;

/**
 * Time runs from left to right: a task stands right of all that blocks it. A link that does not block never
 * turns round one that does; a cycle is cut at the one that waits for the fewest, and
 * never between a box and what it holds.
 */
export function findColumns(shape: GraphShape): Columns {
  const rules = listRules(shape);
  const keys = [...new Set(rules.flatMap((rule) => [rule.from, rule.to]))];
  const positions = findPositions(keys, rules);
  const isForward = (rule: Rule): boolean => (positions.get(rule.from) ?? 0) < (positions.get(rule.to) ?? 0);
  const kept = rules.map((rule) => (isForward(rule) ? rule : { ...rule, from: rule.to, to: rule.from }));
  const columns = tighten(positions, kept, findEarliest(positions, kept));
  const boxes = new Map<string, readonly [number, number]>();
  for (const { id } of shape.boxes) {
    const [start, end] = [columns.get(`s${id}`), columns.get(`e${id}`)];
    if (start !== undefined && end !== undefined) boxes.set(id, [start, end]);
  }
  return {
    arcs: rules.flatMap((rule): Arc[] => {
      if (rule.link === null) return [];
      const reversed = !isForward(rule);
      const { from, to } = rule.link;
      return [{ link: rule.link, left: reversed ? to : from, right: reversed ? from : to, reversed }];
    }),
    items: new Map(
      [...columns].filter(([key]) => key.startsWith('t')).map(([key, column]) => [key.slice(1), column]),
    ),
    boxes,
  };
}

function listRules(shape: GraphShape): Rule[] {
  const items = new Map(shape.items.map((item) => [item.id, item] as const));
  const weightOf = (link: ShapeLink): number => {
    if (link.type !== 'blocks') return 1;
    return items.get(link.from)?.box === items.get(link.to)?.box ? 4 : 2;
  };
  const rules = shape.links.map((link): Rule => ({
    from: items.has(link.from) ? `t${link.from}` : `e${link.from}`,
    to: items.has(link.to) ? `t${link.to}` : `s${link.to}`,
    min: 1,
    weight: weightOf(link),
    link,
  }));
  return [...rules, ...listBoxRules(shape, new Set(items.keys()))];
}

/** A box with links of its own spreads from `s` to `e`, with all that it holds between the two. */
function listBoxRules(shape: GraphShape, items: ReadonlySet<string>): Rule[] {
  const linked = new Set(shape.links.flatMap((link) => [link.from, link.to]));
  const bounded = new Set(shape.boxes.map((box) => box.id).filter((id) => linked.has(id) && !items.has(id)));
  const outer = new Map(shape.boxes.map((box) => [box.id, box.box] as const));
  const rules: Rule[] = [];
  const keep = (from: string, to: string, min: number): void => {
    rules.push({ from, to, min, weight: 1, link: null });
  };
  for (const id of bounded) keep(`s${id}`, `e${id}`, countLooseColumns(shape, id) - 1);
  const tie = (box: string | null, first: string, last: string): void => {
    for (let around = box; around !== null; around = outer.get(around) ?? null) {
      if (!bounded.has(around)) continue;
      keep(`s${around}`, first, 0);
      keep(last, `e${around}`, 0);
    }
  };
  for (const item of shape.items) if (linked.has(item.id)) tie(item.box, `t${item.id}`, `t${item.id}`);
  for (const box of shape.boxes) if (bounded.has(box.id)) tie(box.box, `s${box.id}`, `e${box.id}`);
  return rules;
}

function findPositions(keys: readonly string[], rules: readonly Rule[]): ReadonlyMap<string, number> {
  const weightOf = ({ link }: Rule): number =>
    link === null ? BINDING : link.type === 'blocks' ? BLOCKING : 1;
  const after = Map.groupBy(rules, (rule) => rule.from);
  const waiting = new Map<string, number>(keys.map((key) => [key, 0]));
  for (const rule of rules) waiting.set(rule.to, (waiting.get(rule.to) ?? 0) + weightOf(rule));

  const positions = new Map<string, number>();
  const fresh: string[] = [];
  const place = (key: string): void => {
    positions.set(key, positions.size);
    waiting.delete(key);
    fresh.push(key);
  };
  for (const key of keys) if (waiting.get(key) === 0) place(key);
  for (let next = 0; ; next += 1) {
    if (next === fresh.length) {
      const cut = leastOf(waiting);
      if (cut === undefined) return positions;
      place(cut);
    }
    for (const rule of after.get(fresh[next] ?? '') ?? []) {
      const weight = waiting.get(rule.to);
      if (weight === undefined) continue;
      const left = weight - weightOf(rule);
      waiting.set(rule.to, left);
      if (left === 0) place(rule.to);
    }
  }
}

function leastOf(waiting: ReadonlyMap<string, number>): string | undefined {
  let least: string | undefined;
  let fewest = Infinity;
  for (const [key, count] of waiting) {
    if (count < fewest) [least, fewest] = [key, count];
  }
  return least;
}

function findEarliest(positions: ReadonlyMap<string, number>, rules: readonly Rule[]): Map<string, number> {
  const after = Map.groupBy(rules, (rule) => rule.from);
  const columns = new Map<string, number>();
  for (const key of positions.keys()) {
    const column = columns.get(key) ?? 0;
    columns.set(key, column);
    for (const rule of after.get(key) ?? []) {
      columns.set(rule.to, Math.max(columns.get(rule.to) ?? 0, column + rule.min));
    }
  }
  return columns;
}

/** Moves each one within what its rules allow to where its lines become shorter. */
function tighten(
  positions: ReadonlyMap<string, number>,
  rules: readonly Rule[],
  columns: Map<string, number>,
): ReadonlyMap<string, number> {
  const before = Map.groupBy(rules, (rule) => rule.to);
  const after = Map.groupBy(rules, (rule) => rule.from);
  const order = [...positions.keys()];
  for (let i = 0; i < SWEEPS; i += 1) {
    for (const key of i % 2 === 0 ? order.toReversed() : order) {
      const [incoming, outgoing] = [before.get(key) ?? [], after.get(key) ?? []];
      const earliest = Math.max(0, ...incoming.map((rule) => (columns.get(rule.from) ?? 0) + rule.min));
      const latest = Math.min(...outgoing.map((rule) => (columns.get(rule.to) ?? 0) - rule.min));
      const pull = sumWeights(outgoing) - sumWeights(incoming);
      if (pull > 0) columns.set(key, latest);
      if (pull < 0) columns.set(key, earliest);
    }
  }
  const first = Math.min(...columns.values());
  return new Map([...columns].map(([key, column]) => [key, column - first] as const));
}

function sumWeights(rules: readonly Rule[]): number {
  return rules.reduce((sum, rule) => sum + rule.weight, 0);
}
