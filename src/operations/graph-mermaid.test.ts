import { describe, expect, it } from 'vitest';
import type { GraphView } from '#contract/graph-operations.ts';
import { graphEdge, graphTask, HOSTILE_TITLES, SAMPLE_GRAPH } from '../../tests/support/graph-sample.ts';
import { toMermaid } from './graph-mermaid.ts';

const linesOf = (graph: GraphView): string[] =>
  toMermaid(graph)
    .split('\n')
    .map((line) => line.trim());
const LABEL = /^t_x\["(?<label>[^"]*)"\]:::ready$/;

function labelOf(title: string): string {
  const nodes = [graphTask('x', { title, ready: true })];
  const found = linesOf({ nodes, edges: [] }).flatMap((line) => LABEL.exec(line)?.groups?.['label'] ?? []);
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

/** What Mermaid shows: it decodes the numbers. */
function decode(label: string): string {
  return label
    .replace(/#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('\u200c', '');
}

describe('toMermaid', () => {
  it('is a flowchart from left to right', () => {
    expect(toMermaid(SAMPLE_GRAPH)).toMatch(/^flowchart LR\n/);
  });

  it('draws arrows from the blocker to what it unblocks', () => {
    const nodes = [graphTask('fg-a'), graphTask('fg-b')];
    expect(linesOf({ nodes, edges: [{ from_id: 'fg-b', to_id: 'fg-a', type: 'blocks' }] })).toContain(
      't_fg_a --> t_fg_b',
    );
  });

  it('dots what does not block, with a head only where there is a direction', () => {
    const nodes = [graphTask('a'), graphTask('b')];
    expect(linesOf({ nodes, edges: [graphEdge('a', 'b', 'related')] })).toContain('t_a -. related .- t_b');
    expect(linesOf({ nodes, edges: [graphEdge('a', 'b', 'discovered-from')] })).toContain(
      't_a -. discovered .-> t_b',
    );
  });

  it('has a colour for every look', () => {
    for (const look of ['ready', 'open', 'blocked', 'in_progress', 'closed']) {
      expect(toMermaid(SAMPLE_GRAPH)).toMatch(new RegExp(`classDef ${look} fill:#`));
      expect(toMermaid(SAMPLE_GRAPH)).toContain(`"]:::${look}\n`);
    }
  });

  it('says id, priority, type, state and owner above the title', () => {
    const task = graphTask('x', { title: 'Fix it', ready: true, type: 'bug', priority: 1, assignee: 'anna' });
    expect(toMermaid({ nodes: [task], edges: [] })).toContain(
      't_x["x · P1 · bug · ready · anna<br/>Fix it"]:::ready',
    );
  });

  it('draws parents as boxes, and a handle where a box has links', () => {
    const nodes = [graphTask('e', { title: 'Epic' }), graphTask('c', { parent_id: 'e' }), graphTask('x')];
    const lines = linesOf({ nodes, edges: [graphEdge('e', 'x')] });
    const start = lines.indexOf('subgraph box_e["e Epic #40;todo#41;"]');
    const end = lines.indexOf('end');
    expect(start).toBeGreaterThan(0);
    expect(lines.slice(start, end)).toContain('t_e(["e"]):::open');
    expect(lines.slice(start, end).some((line) => line.startsWith('t_c['))).toBe(true);
    expect(lines.slice(start, end).some((line) => line.startsWith('t_x['))).toBe(false);
    expect(lines).toContain('t_e --> t_x');
  });

  it('keeps names apart that differ only in signs, and away from reserved words', () => {
    const text = toMermaid({ nodes: [graphTask('a-b'), graphTask('a_b'), graphTask('end')], edges: [] });
    expect(text).toContain('t_a_b[');
    expect(text).toContain('t_a_b_2[');
    expect(text).toContain('t_end[');
  });

  it.each(HOSTILE_TITLES)('escapes %j', (title) => {
    const label = labelOf(title);
    expect(label).toMatch(/^x · P2 · ready<br\/>/);
    // Beyond the line break that we write, only letters, digits, numbered signs and what is not ASCII.
    expect(label.replace('<br/>', '')).toMatch(/^(?:[A-Za-z0-9 \u0080-\uffff]|#\d+;)*$/);
  });

  it('shows titles as they are', () => {
    for (const title of ['`code` **bold**', '"]:::closed', '# 1. $$x$$ a\\nb', '&lt;b&gt; #35;']) {
      expect(decode(labelOf(title))).toBe(`x · P2 · ready<br/>${title}`);
    }
  });

  it('parts what Mermaid would still act on after decoding', () => {
    for (const title of ['a\\nb', '$$x$$', 'fa:fa-car', 'ﬂ°°35¶ß'])
      expect(labelOf(title)).toContain('\u200c');
  });

  it('makes visible what would hide or reorder text', () => {
    expect(decode(labelOf('a\u202eb\u0007'))).toContain('a\\u202eb\\u0007');
  });

  it('shortens long titles', () => {
    expect(labelOf('word '.repeat(100))).toMatch(/…$/);
    expect(labelOf('word '.repeat(100)).length).toBeLessThan(120);
  });

  it('marks a blocker that is not there', () => {
    expect(linesOf({ nodes: [graphTask('b')], edges: [graphEdge('gone', 'b')] })).toContain(
      't_gone["gone<br/>not in this graph"]:::unknown',
    );
  });

  it('warns of what Mermaid would refuse', () => {
    const nodes = Array.from({ length: 502 }, (_, i) => graphTask(`n${i}`));
    const edges = nodes.slice(1).map((task) => graphEdge('n0', task.id));
    expect(toMermaid({ nodes, edges })).toContain('%% 501 edges');
    expect(toMermaid(SAMPLE_GRAPH)).not.toContain('%%');
  });

  it('has something to show without tasks', () => {
    expect(toMermaid({ nodes: [], edges: [] })).toContain('No tasks to draw');
  });

  it('is the same for the same graph in any order', () => {
    const { nodes, edges } = SAMPLE_GRAPH;
    expect(toMermaid({ nodes: nodes.toReversed(), edges: edges.toReversed() })).toBe(toMermaid(SAMPLE_GRAPH));
  });
});
