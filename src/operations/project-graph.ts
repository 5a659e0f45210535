import type { GraphView, taskGraph } from '#contract/graph-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeText } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const projectGraph = implement<typeof taskGraph>({
  async run(ctx, input) {
    const { store, config } = ctx.project;
    const graph = await store.readGraph({ id: input.id, all: input.all === true });
    const format = input.format ?? 'mermaid';
    if (format !== 'json') checkSize(graph, format, ctx.stays);
    switch (format) {
      case 'json':
        return graph;
      case 'mermaid':
        return { format, text: (await import('./graph-mermaid.ts')).toMermaid(graph) };
      case 'dot':
        return { format, text: (await import('./graph-dot.ts')).toDot(graph) };
      case 'svg': {
        const { toSvg } = await import('./graph-svg.ts');
        return { format, text: await toSvg(graph, { title: config.name, served: ctx.stays }) };
      }
    }
  },
  text: (output) =>
    'text' in output ? output.text.replace(/\n$/, '') : escapeText(JSON.stringify(output, null, 2)),
});

/** A picture is laid out, and a text is written, in one go, in which a server serves no other client. */
function checkSize(graph: GraphView, format: 'mermaid' | 'dot' | 'svg', served: boolean): void {
  if (!served && format !== 'svg') return;
  const servedLimits = format === 'svg' ? LIMITS.graph_served_svg : LIMITS.graph_served_text;
  const limits = served ? servedLimits : LIMITS.graph_svg;
  for (const [what, count, limit] of [
    ['tasks', graph.nodes.length, limits.nodes],
    ['dependencies', graph.edges.length, limits.edges],
  ] as const) {
    if (count <= limit) continue;
    const where = served ? ' that a server makes' : '';
    throw new ForgeError(
      'invalid_input',
      `${count} ${what} are too many for a graph as ${format}${where}; the limit is ${limit}`,
      {
        hint: `forge graph <id> --format ${format}, or --format ${served ? 'json' : 'dot'}`,
        details: { limit },
      },
    );
  }
}
