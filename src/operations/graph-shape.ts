import type { GraphView } from '#contract/graph-operations.ts';
import type { DependencyType } from '#contract/task.ts';
import { compareText } from '#kernel/text.ts';

export type GraphTask = GraphView['nodes'][number];

/** What a task looks like in a drawing: its status, with open tasks told apart by what holds them back. */
export const LOOKS = ['ready', 'in_progress', 'blocked', 'open', 'closed'] as const;
export type Look = (typeof LOOKS)[number];

/** Boxes inside boxes beyond this are hard to read; deeper tasks name their parent instead. */
const BOX_DEPTH = 2;

/** Something with edges: a task, the handle of a boxed parent, or a blocker that the graph does not hold. */
export interface ShapeItem {
  readonly id: string;
  readonly kind: 'task' | 'handle' | 'unknown';
  readonly task: GraphTask | null;
  readonly look: Look;
  /** The box it lies in. */
  readonly box: string | null;
  /** Its parent, where no box shows it. */
  readonly parent_mark: string | null;
}

/** A task whose children are drawn inside it. */
export interface ShapeBox {
  readonly id: string;
  readonly task: GraphTask;
  readonly look: Look;
  readonly box: string | null;
}

/** In the direction of the arrow: from the blocker to what it unblocks. */
export interface ShapeLink {
  readonly from: string;
  readonly to: string;
  readonly type: DependencyType;
  /** The blocker is closed: nothing waits on this link any more. */
  readonly settled: boolean;
}

export interface GraphShape {
  readonly items: readonly ShapeItem[];
  /** Outer before inner. */
  readonly boxes: readonly ShapeBox[];
  readonly links: readonly ShapeLink[];
}

/** What lies directly in each box; null is the paper. */
export function groupByBox(shape: GraphShape): {
  readonly items: ReadonlyMap<string | null, readonly ShapeItem[]>;
  readonly boxes: ReadonlyMap<string | null, readonly ShapeBox[]>;
} {
  return {
    items: Map.groupBy(shape.items, (item) => item.box),
    boxes: Map.groupBy(shape.boxes, (box) => box.box),
  };
}

export interface ShapeOptions {
  readonly boxes: 'nested' | 'none';
  /** Which boxes hold a handle: every one with a link, or only those linked to something inside themselves. */
  readonly handles: 'linked' | 'inner';
}

/**
 * What every drawing of a graph has in common, in one order whatever the order of the input. Survives what a
 * join of two clones can leave behind: cycles of parents or blockers, edges to tasks that are not there.
 */
export function toShape(graph: GraphView, options: ShapeOptions): GraphShape {
  const tasks = new Map(
    graph.nodes.toSorted((a, b) => compareText(a.id, b.id)).map((task) => [task.id, task] as const),
  );
  const links = listLinks(graph, tasks);
  const looks = listLooks(tasks, links);
  const parents = findParents(tasks);
  const boxDepth = options.boxes === 'nested' ? BOX_DEPTH : 0;
  const boxes = listBoxes(tasks, parents, looks, boxDepth);
  const boxed = new Set(boxes.map((box) => box.id));
  const around = findBoxes(parents, boxed);
  const linked = new Set(links.flatMap((link) => [link.from, link.to]));
  const handled = options.handles === 'linked' ? linked : findInnerLinked(links, around);

  const items: ShapeItem[] = [];
  for (const [id, task] of tasks) {
    if (boxed.has(id) && !handled.has(id)) continue;
    const look = looks.get(id) ?? 'open';
    if (boxed.has(id)) {
      items.push({ id, kind: 'handle', task, look, box: id, parent_mark: null });
      continue;
    }
    const box = around.get(id) ?? null;
    const parent = task.parent_id;
    items.push({ id, kind: 'task', task, look, box, parent_mark: parent === box ? null : parent });
  }
  for (const id of [...linked].filter((end) => !tasks.has(end)).toSorted(compareText)) {
    items.push({ id, kind: 'unknown', task: null, look: 'open', box: null, parent_mark: null });
  }
  return { items, boxes, links };
}

/** Only a blocker may be missing from the nodes: it explains why a task is held back. */
function listLinks(graph: GraphView, tasks: ReadonlyMap<string, GraphTask>): ShapeLink[] {
  const links = new Map<string, ShapeLink>();
  for (const edge of graph.edges) {
    if (edge.from_id === edge.to_id || !tasks.has(edge.from_id)) continue;
    const blocker = tasks.get(edge.to_id);
    if (blocker === undefined && edge.type !== 'blocks') continue;
    const link: ShapeLink = {
      from: edge.to_id,
      to: edge.from_id,
      type: edge.type,
      settled: blocker?.status === 'closed',
    };
    links.set(JSON.stringify([link.from, link.to, link.type]), link);
  }
  return [...links.values()].toSorted(
    (a, b) => compareText(a.from, b.from) || compareText(a.to, b.to) || compareText(a.type, b.type),
  );
}

function listLooks(
  tasks: ReadonlyMap<string, GraphTask>,
  links: readonly ShapeLink[],
): ReadonlyMap<string, Look> {
  const held = new Set(
    links.filter((link) => link.type === 'blocks' && !link.settled).map((link) => link.to),
  );
  return new Map([...tasks].map(([id, task]) => [id, lookOf(task, held.has(id))] as const));
}

function lookOf(task: GraphTask, held: boolean): Look {
  if (task.status !== 'open') return task.status;
  if (task.ready) return 'ready';
  return held ? 'blocked' : 'open';
}

interface Parent {
  readonly id: string;
  /** Ancestors of the parent itself. */
  readonly depth: number;
}

/** The parent of each task that has one in the graph; the last link of a cycle of parents is left out. */
function findParents(tasks: ReadonlyMap<string, GraphTask>): ReadonlyMap<string, Parent> {
  const depths = new Map<string, number>();
  const parents = new Map<string, Parent>();
  for (const start of tasks.keys()) {
    const path = new Set<string>();
    let id: string | null = start;
    while (id !== null && !depths.has(id) && !path.has(id)) {
      path.add(id);
      const parent: string | null = tasks.get(id)?.parent_id ?? null;
      id = parent !== null && tasks.has(parent) ? parent : null;
    }
    let above = id !== null && !path.has(id) ? id : null;
    for (const child of [...path].toReversed()) {
      const depth = above === null ? 0 : (depths.get(above) ?? 0) + 1;
      if (above !== null) parents.set(child, { id: above, depth: depth - 1 });
      depths.set(child, depth);
      above = child;
    }
  }
  return parents;
}

/** The innermost box around each task that lies in one; a box counts as around what it holds, not itself. */
function findBoxes(
  parents: ReadonlyMap<string, Parent>,
  boxed: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const boxes = new Map<string, string>();
  for (const [id, parent] of [...parents].toSorted(([, a], [, b]) => a.depth - b.depth)) {
    const box = boxed.has(parent.id) ? parent.id : boxes.get(parent.id);
    if (box !== undefined) boxes.set(id, box);
  }
  return boxes;
}

/** Boxes with a link to something inside themselves. */
function findInnerLinked(
  links: readonly ShapeLink[],
  around: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const climb = (start: string, other: string): void => {
    for (let box = around.get(start); box !== undefined; box = around.get(box)) {
      if (box === other) found.add(other);
    }
  };
  for (const { from, to } of links) {
    climb(from, to);
    climb(to, from);
  }
  return found;
}

function listBoxes(
  tasks: ReadonlyMap<string, GraphTask>,
  parents: ReadonlyMap<string, Parent>,
  looks: ReadonlyMap<string, Look>,
  boxDepth: number,
): ShapeBox[] {
  const depths = new Map<string, number>();
  for (const parent of parents.values()) if (parent.depth < boxDepth) depths.set(parent.id, parent.depth);
  const boxes = [...tasks.values()].filter((task) => depths.has(task.id));
  return boxes
    .toSorted((a, b) => (depths.get(a.id) ?? 0) - (depths.get(b.id) ?? 0))
    .map((task) => ({
      id: task.id,
      task,
      look: looks.get(task.id) ?? 'open',
      box: parents.get(task.id)?.id ?? null,
    }));
}
