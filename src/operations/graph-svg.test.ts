import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import {
  graphEdge,
  graphTask,
  HOSTILE_TITLES,
  SAMPLE_GRAPH,
  SAMPLE_TITLE,
} from '../../tests/support/graph-sample.ts';
import { toSvg } from './graph-svg.ts';

const XMLLINT = 'xmllint';
const hasXmllint = spawnSync(XMLLINT, ['--version']).status === 0;
const EMPTY: GraphView = { nodes: [], edges: [] };
const HOSTILE: GraphView = {
  nodes: HOSTILE_TITLES.map((title, i) =>
    graphTask(`fg-${i}`, { title, assignee: title, state: title, parent_id: i > 9 ? `fg-${i % 3}` : null }),
  ),
  edges: HOSTILE_TITLES.slice(1).map((_, i) => graphEdge(`fg-${i}`, `fg-${i + 1}`)),
};
const chain = (count: number): GraphView => ({
  nodes: Array.from({ length: count }, (_, i) => graphTask(`n${i}`, { title: 'long '.repeat(100) })),
  edges: Array.from({ length: count - 1 }, (_, i) => graphEdge(`n${i >> 1}`, `n${i + 1}`)),
});

describe('toSvg', () => {
  it('is the picture in the docs (vitest -u writes it again)', async () => {
    const svg = await toSvg(SAMPLE_GRAPH, { title: SAMPLE_TITLE });
    await expect(svg).toMatchFileSnapshot('../../docs/images/graph-sample.svg');
  });

  it('is the same for the same graph in any order', async () => {
    const { nodes, edges } = SAMPLE_GRAPH;
    const first = await toSvg(SAMPLE_GRAPH, { title: 'x' });
    expect(await toSvg(SAMPLE_GRAPH, { title: 'x' })).toBe(first);
    expect(await toSvg({ nodes: nodes.toReversed(), edges: edges.toReversed() }, { title: 'x' })).toBe(first);
  });

  it('shows every look, and explains it', async () => {
    const svg = await toSvg(SAMPLE_GRAPH, { title: 'x' });
    for (const look of ['ready', 'in_progress', 'blocked', 'open', 'closed']) {
      expect(svg).toMatch(new RegExp(`<g class="item ${look}(?: strong)?" `));
      expect(svg).toContain(`<g class="${look}"><circle class="bar"`);
      expect(svg).toContain(`.forge-graph .${look} .bar{`);
    }
    expect(svg).toContain('14 tasks · 4 ready · 3 in progress · 4 blocked · 2 open · 1 closed');
  });

  it('explains only what it shows', async () => {
    const svg = await toSvg({ nodes: [graphTask('a', { ready: true })], edges: [] }, { title: 'x' });
    expect(svg).not.toContain('blocks</text>');
    expect(svg).not.toContain('<g class="closed">');
  });

  it('says on a card what the task is', async () => {
    const task = graphTask('fg-a3f8', {
      title: 'Fix it',
      type: 'bug',
      priority: 0,
      assignee: 'anna',
      status: 'in_progress',
      state: 'review',
      parent_id: 'fg-gone',
    });
    const svg = await toSvg({ nodes: [task], edges: [] }, { title: 'x' });
    for (const text of ['fg-a3f8', 'bug in fg-gone', 'P0', 'Fix it', 'review', 'A', 'anna']) {
      expect(svg).toContain(`>${text}</text>`);
    }
  });

  it('draws the heads of arrows at what is unblocked', async () => {
    const nodes = [graphTask('a', { title: 'First' }), graphTask('b', { title: 'Second' })];
    const svg = await toSvg({ nodes, edges: [{ from_id: 'b', to_id: 'a', type: 'blocks' }] }, { title: 'x' });
    const [from, to] = readPath(svg, 'link blocks');
    expect(svg).toMatch(/class="link blocks" d="[^"]*" marker-end="url\(#forge-graph-arrow\)"/);
    expect(from).toBeLessThan(to);
    expect(readCard(svg, 'a')).toBeLessThan(readCard(svg, 'b'));
  });

  it('has no head on a link without direction, and dashes what does not block', async () => {
    const nodes = [graphTask('a'), graphTask('b'), graphTask('c')];
    const edges = [graphEdge('a', 'b', 'related'), graphEdge('a', 'c', 'discovered-from')];
    const svg = await toSvg({ nodes, edges }, { title: 'x' });
    expect(svg).toMatch(/<path class="link related" d="[^"]*"\/>/);
    expect(svg).toMatch(/<path class="link discovered-from" d="[^"]*" marker-end=/);
    expect(svg).toMatch(/\.related,[^{]*\{stroke-dasharray/);
  });

  it('pales what a closed task no longer blocks', async () => {
    const nodes = [graphTask('a', { status: 'closed' }), graphTask('b', { ready: true })];
    const svg = await toSvg({ nodes, edges: [graphEdge('a', 'b')] }, { title: 'x' });
    expect(svg).toContain('class="link blocks settled"');
    expect(svg).toContain('no longer blocks</text>');
  });

  it('has colours for light and for dark', async () => {
    const svg = await toSvg(SAMPLE_GRAPH, { title: 'x' });
    const [light = '', dark = ''] = svg.split('@media (prefers-color-scheme:dark){');
    expect(light).toContain('.forge-graph .paper{fill:');
    expect(dark).toContain('.forge-graph .paper{fill:');
  });

  it('loads and runs nothing', async () => {
    for (const graph of [SAMPLE_GRAPH, HOSTILE, EMPTY]) {
      const svg = await toSvg(graph, { title: '</title><script>alert(1)</script>' });
      const tags = new Set([...svg.matchAll(/<([a-zA-Z]+)/g)].map(([, tag]) => tag));
      for (const tag of tags) {
        expect([
          'svg',
          'title',
          'style',
          'defs',
          'marker',
          'path',
          'clipPath',
          'rect',
          'g',
          'text',
          'circle',
        ]).toContain(tag);
      }
      expect(svg).not.toMatch(/\son[a-z]+=|javascript:[^<]*"|@import|url\((?!#)|href=/);
      expect(svg.match(/https?:[^"]*/g)).toEqual(['http://www.w3.org/2000/svg']);
    }
  });

  it('can be read aloud', async () => {
    const svg = await toSvg(SAMPLE_GRAPH, { title: 'Orchard "2"' });
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-label="Orchard &quot;2&quot;: 14 tasks/);
    expect(svg).toMatch(/<title>Orchard &quot;2&quot;: 14 tasks/);
    expect(svg).toContain('<title>fg-b2c1 Issue and verify challenges (task, P1, in progress)</title>');
  });

  it('is friendly without tasks', async () => {
    const svg = await toSvg(EMPTY, { title: 'Orchard' });
    expect(svg).toContain('Nothing to draw');
    expect(svg).toContain('>Orchard</text>');
  });

  it('keeps a planted script a text', async () => {
    const nodes = [graphTask('a', { title: '</text><script>alert(1)</script>' })];
    const svg = await toSvg({ nodes, edges: [] }, { title: 'x' });
    expect(svg).not.toContain('<script');
    expect(svg).toContain('&lt;/text&gt;&lt;script&gt;');
  });

  it.each([
    ['the sample', SAMPLE_GRAPH],
    ['hostile titles', HOSTILE],
    ['nothing', EMPTY],
    ['a graph too big for dagre', chain(700)],
  ])('is well formed: %s', async (_name, graph) => {
    const svg = await toSvg(graph, { title: HOSTILE_TITLES.join(' ') });
    expect(findBrokenXml(svg)).toBeUndefined();
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it.skipIf(!hasXmllint)('is accepted by xmllint (skipped where it is not installed)', async () => {
    for (const graph of [SAMPLE_GRAPH, HOSTILE, EMPTY]) {
      const input = await toSvg(graph, { title: HOSTILE_TITLES.join(' ') });
      const { status, stderr } = spawnSync(XMLLINT, ['--noout', '-'], { input, encoding: 'utf8' });
      expect(stderr).toBe('');
      expect(status).toBe(0);
    }
  });

  // The runner's own patience shows that it ends: dagre would take hours.
  it('draws every task of a graph too big for dagre', async () => {
    const svg = await toSvg(chain(20_000), { title: 'x' });
    expect(svg.match(/<g class="item /g)).toHaveLength(20_000);
    expect(svg.match(/class="link blocks"/g)).toHaveLength(20_000);
  }, 30_000);

  it.each([
    ['two columns that all wait for each other', { columns: 2, rows: 50, drawn: 'flat' }],
    ['a lattice', { columns: 12, rows: 13, drawn: 'flat' }],
    ['one that only a command line lays out with dagre', { columns: 2, rows: 20, drawn: 'flat when served' }],
    ['one that both do', { columns: 3, rows: 5, drawn: 'in boxes' }],
  ] as const)('counts links before dagre is asked: %s', async (_name, { columns, rows, drawn }) => {
    const ids = Array.from({ length: columns }, (_c, column) =>
      Array.from({ length: rows }, (_r, row) => `n${column}-${row}`),
    );
    const graph = {
      nodes: [graphTask('box'), ...ids.flat().map((id) => graphTask(id, { parent_id: 'box' }))],
      edges: ids
        .slice(1)
        .flatMap((column, i) => column.flatMap((to) => (ids[i] ?? []).map((from) => graphEdge(from, to)))),
    };
    const [alone, served] = [
      await toSvg(graph, { title: 'Links' }),
      await toSvg(graph, { title: 'Links', served: true }),
    ];
    // Only dagre's pictures have boxes.
    expect(alone.includes('class="box')).toBe(drawn !== 'flat');
    expect(served.includes('class="box')).toBe(drawn === 'in boxes');
    expect(served === alone).toBe(drawn !== 'flat when served');
  });

  it('keeps a wide fan and a dense knot small', async () => {
    const nodes = Array.from({ length: 120 }, (_, i) => graphTask(`n${i}`));
    const fan = nodes.slice(1).map((task) => graphEdge('n0', task.id));
    const knot = nodes.slice(0, 60).flatMap((a) => nodes.slice(60).map((b) => graphEdge(a.id, b.id)));
    for (const edges of [fan, knot]) {
      const svg = await toSvg({ nodes, edges }, { title: 'x' });
      expect(Number(/ height="(\d+)"/.exec(svg)?.[1])).toBeLessThan(6_000);
    }
  });
});

/** The x where the first such path begins and where it ends. */
function readPath(svg: string, classes: string): [number, number] {
  const path = new RegExp(`class="${classes}" d="M([\\d.]+) [^"]*?([\\d.]+)(?: [\\d.]+)?"`).exec(svg);
  return [Number(path?.[1]), Number(path?.[2])];
}

function readCard(svg: string, id: string): number {
  return Number(new RegExp(`translate\\(([\\d.]+) [\\d.]+\\)"><title>${id} `).exec(svg)?.[1]);
}

/** The first thing that is not XML: a tag without its end, a bare sign, a forbidden character. */
function findBrokenXml(text: string): string | undefined {
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.exec(text);
  if (forbidden !== null || !text.isWellFormed()) return `forbidden character at ${forbidden?.index}`;
  const open: string[] = [];
  let end = 0;
  for (const tag of text.matchAll(/<(\/?)([a-zA-Z]+)((?:\s+[a-zA-Z:-]+="[^"<]*")*)\s*(\/?)>/g)) {
    const between = text.slice(end, tag.index);
    if (/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/.test(between + tag[3])) return between;
    end = tag.index + tag[0].length;
    if (tag[1] === '/') {
      if (open.pop() !== tag[2]) return tag[0];
    } else if (tag[4] !== '/') open.push(tag[2] ?? '');
  }
  return open[0] ?? (/[<>]/.test(text.slice(end)) ? text.slice(end) : undefined);
}
