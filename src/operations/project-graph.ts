import type { taskGraph } from '#contract/graph-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { escapeText } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const projectGraph = implement<typeof taskGraph>({
  async run(ctx, input) {
    const { store, config } = ctx.project;
    const format = input.format ?? 'mermaid';
    const most = findLimits(format, ctx.stays);
    const { too_many, ...graph } = await store.readGraph({ id: input.id, all: input.all === true, most });
    if (too_many !== undefined) throw tooLarge(too_many, { format, most, served: ctx.stays });
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

interface GraphLimits {
  readonly nodes: number;
  readonly edges: number;
}
type Format = 'mermaid' | 'dot' | 'svg' | 'json';

/** A picture is laid out, and a text is written, in one go, in which a server serves no other client. */
function findLimits(format: Format, served: boolean): GraphLimits | undefined {
  if (!served) return format === 'svg' ? LIMITS.graph_svg : undefined;
  if (format === 'json') return NEIGHBOUR_LIMITS.graph_served_json;
  return format === 'svg' ? LIMITS.graph_served_svg : LIMITS.graph_served_text;
}

function tooLarge(
  what: keyof GraphLimits,
  asked: { readonly format: Format; readonly most: GraphLimits | undefined; readonly served: boolean },
): ForgeError {
  const { format, served } = asked;
  const limit = asked.most?.[what];
  const where = served ? ' that a server makes' : '';
  const other = served ? 'json' : 'dot';
  const instead = format === other ? '' : `, or --format ${other}`;
  return new ForgeError(
    'invalid_input',
    `More than ${limit} ${what === 'nodes' ? 'tasks' : 'dependencies'} are too many for a graph as ${format}${where}`,
    { hint: `forge graph <id> --format ${format}${instead}`, details: { limit } },
  );
}
