import type { GraphShape } from './graph-shape.ts';

/** The parts of a graph that have no link to each other; a box stays whole. */
export function splitShape(shape: GraphShape): GraphShape[] {
  const inside = new Set(shape.items.map((item) => item.id));
  const groups = createGroups();
  const keyOf = (id: string): string => (inside.has(id) ? `t${id}` : `b${id}`);
  for (const item of shape.items) if (item.box !== null) groups.join(`t${item.id}`, `b${item.box}`);
  for (const box of shape.boxes) if (box.box !== null) groups.join(`b${box.id}`, `b${box.box}`);
  for (const link of shape.links) groups.join(keyOf(link.from), keyOf(link.to));
  const items = Map.groupBy(shape.items, (item) => groups.rootOf(`t${item.id}`));
  const boxes = Map.groupBy(shape.boxes, (box) => groups.rootOf(`b${box.id}`));
  const links = Map.groupBy(shape.links, (link) => groups.rootOf(keyOf(link.from)));
  return [...new Set([...items.keys(), ...boxes.keys()])].map((root) => ({
    items: items.get(root) ?? [],
    boxes: boxes.get(root) ?? [],
    links: links.get(root) ?? [],
  }));
}

export interface Groups {
  join(a: string, b: string): void;
  /** The same for all that were joined. */
  rootOf(key: string): string;
}

export function createGroups(): Groups {
  const parents = new Map<string, string>();
  const rootOf = (key: string): string => {
    let root = key;
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up;
    for (let walk = key; walk !== root;) {
      const up = parents.get(walk) ?? root;
      parents.set(walk, root);
      walk = up;
    }
    return root;
  };
  const join = (a: string, b: string): void => {
    const [left, right] = [rootOf(a), rootOf(b)];
    if (left !== right) parents.set(right, left);
  };
  return { join, rootOf };
}
