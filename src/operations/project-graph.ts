import type { taskGraph } from '#contract/graph-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeText } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const projectGraph = implement<typeof taskGraph>({
  async run(ctx, input) {
    const { store, config } = ctx.project;
    const graph = await store.readGraph({ id: input.id, all: input.all === true });
    const format = input.format ?? 'mermaid';
    switch (format) {
      case 'json':
        return graph;
      case 'mermaid':
        return { format, text: (await import('./graph-mermaid.ts')).toMermaid(graph) };
      case 'dot':
        return { format, text: (await import('./graph-dot.ts')).toDot(graph) };
      case 'svg': {
        checkSize(graph.nodes.length, 'tasks', LIMITS.graph_svg_nodes);
        checkSize(graph.edges.length, 'dependencies', LIMITS.graph_svg_edges);
        return { format, text: await (await import('./graph-svg.ts')).toSvg(graph, { title: config.name }) };
      }
    }
  },
  text: (output) =>
    'text' in output ? output.text.replace(/\n$/, '') : escapeText(JSON.stringify(output, null, 2)),
});

/** A picture is laid out in one go, in which nothing else is served. */
function checkSize(count: number, what: string, limit: number): void {
  if (count <= limit) return;
  throw new ForgeError(
    'invalid_input',
    `${count} ${what} are too many for a picture; the limit is ${limit}`,
    {
      hint: 'forge graph <id> --format svg, or --format dot',
      details: { limit },
    },
  );
}
