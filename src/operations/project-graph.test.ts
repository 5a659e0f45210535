import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { graphTask } from '../../tests/support/graph-sample.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import type { GraphQuery, ReadGraph } from '#store/graph-query.ts';
import type { OperationContext } from './operation.ts';
import { projectGraph } from './project-graph.ts';

type Format = 'svg' | 'dot' | 'mermaid' | 'json';

function draw(
  graph: { nodes: number; edges: number },
  format: Format,
  options?: { served: boolean },
): Promise<unknown> {
  const edge = () => ({ from_id: 'fg-0', to_id: 'fg-1', type: 'blocks' });
  const view = {
    nodes: Array.from({ length: graph.nodes }, (_, at) => graphTask(`fg-${at}`)),
    edges: Array.from({ length: graph.edges }, edge),
  } as unknown as GraphView; // its edges are only counted
  const readGraph = async ({ most }: GraphQuery): Promise<ReadGraph> => {
    if (most !== undefined && graph.nodes > most.nodes) return { nodes: [], edges: [], too_many: 'nodes' };
    if (most !== undefined && graph.edges > most.edges) return { nodes: [], edges: [], too_many: 'edges' };
    return view;
  };
  const project = { store: { readGraph }, config: { name: 'demo' } };
  const context = { project, stays: options?.served === true };
  return projectGraph.run(context as unknown as OperationContext, { format }); // all that it looks at
}

describe('a picture of the graph', () => {
  it.each([
    [{ nodes: LIMITS.graph_svg.nodes + 1, edges: 0 }, LIMITS.graph_svg.nodes],
    [{ nodes: 400, edges: LIMITS.graph_svg.edges + 1 }, LIMITS.graph_svg.edges],
  ])('[B11] is refused before it is laid out where it would be too large: %j', async (graph, limit) => {
    await expect(draw(graph, 'svg')).rejects.toMatchObject({ code: 'invalid_input', details: { limit } });
    expect(await draw(graph, 'json')).toHaveProperty('nodes.length', graph.nodes);
    expect(await draw(graph, 'dot')).toHaveProperty('format', 'dot');
  });

  const { graph_served_svg: svg, graph_served_text: text } = LIMITS;
  it.each([
    ['svg', { nodes: svg.nodes + 1, edges: 0 }, svg.nodes],
    ['svg', { nodes: 400, edges: svg.edges + 1 }, svg.edges],
    ['dot', { nodes: text.nodes + 1, edges: 0 }, text.nodes],
    ['mermaid', { nodes: 400, edges: text.edges + 1 }, text.edges],
  ] as const)(
    'is smaller in a server, which serves no other client meanwhile: %s %j',
    async (format, graph, limit) => {
      await expect(draw(graph, format, { served: true })).rejects.toMatchObject({
        code: 'invalid_input',
        details: { limit },
        hint: expect.stringContaining('--format json'),
      });
      expect(await draw(graph, 'json', { served: true })).toHaveProperty('nodes.length', graph.nodes);
      expect(await draw(graph, format)).toHaveProperty('format', format);
    },
  );

  it('is bounded as JSON too where a server gives it', async () => {
    const { nodes, edges } = NEIGHBOUR_LIMITS.graph_served_json;
    for (const graph of [
      { nodes: nodes + 1, edges: 0 },
      { nodes: 2, edges: edges + 1 },
    ]) {
      await expect(draw(graph, 'json', { served: true })).rejects.toMatchObject({
        code: 'invalid_input',
        hint: 'forge graph <id> --format json',
      });
      expect(await draw(graph, 'json')).toHaveProperty('nodes.length', graph.nodes);
    }
  });
});
