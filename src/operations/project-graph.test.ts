import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OperationContext } from './operation.ts';
import { projectGraph } from './project-graph.ts';

function draw(graph: { nodes: number; edges: number }, format: 'svg' | 'json'): Promise<unknown> {
  const node = (at: number) => ({ id: `fg-${at}` });
  const edge = () => ({ from_id: 'fg-0', to_id: 'fg-1', type: 'blocks' });
  const view = {
    nodes: Array.from({ length: graph.nodes }, (_, at) => node(at)),
    edges: Array.from({ length: graph.edges }, edge),
  } as unknown as GraphView; // only counted
  const project = { store: { readGraph: async () => view }, config: { name: 'demo' } };
  return projectGraph.run({ project } as unknown as OperationContext, { format }); // all that it looks at
}

describe('a picture of the graph', () => {
  it.each([
    [{ nodes: LIMITS.graph_svg_nodes + 1, edges: 0 }, LIMITS.graph_svg_nodes],
    [{ nodes: 400, edges: LIMITS.graph_svg_edges + 1 }, LIMITS.graph_svg_edges],
  ])('[B11] is refused before it is laid out where it would be too large: %j', async (graph, limit) => {
    await expect(draw(graph, 'svg')).rejects.toMatchObject({ code: 'invalid_input', details: { limit } });
    expect(await draw(graph, 'json')).toHaveProperty('nodes.length', graph.nodes);
  });
});
