import type { GraphView } from '#contract/graph-operations.ts';

type GraphTask = GraphView['nodes'][number];
type GraphEdge = GraphView['edges'][number];

/** A task of a graph; what a test does not care about is filled in. */
export function graphTask(id: string, parts: Partial<GraphTask> = {}): GraphTask {
  const status = parts.status ?? 'open';
  return {
    id,
    title: `Task ${id}`,
    status,
    state: status === 'open' ? 'todo' : status,
    priority: 2,
    type: 'task',
    assignee: null,
    parent_id: null,
    ready: false,
    ...parts,
  };
}

/** In the order of the arrow: the blocker first. */
export function graphEdge(blocker: string, dependent: string, type: GraphEdge['type'] = 'blocks'): GraphEdge {
  return { from_id: dependent, to_id: blocker, type };
}

/** The graph of docs/images/graph-sample.svg. */
export const SAMPLE_TITLE = 'Orchard';
export const SAMPLE_GRAPH: GraphView = {
  nodes: [
    graphTask('fg-e5a2', {
      title: 'Sign in with a passkey',
      type: 'epic',
      priority: 1,
      status: 'in_progress',
    }),
    graphTask('fg-a3f8', {
      title: 'Store credentials in their own table',
      status: 'closed',
      parent_id: 'fg-e5a2',
      assignee: 'anna',
    }),
    graphTask('fg-b2c1', {
      title: 'Issue and verify challenges',
      status: 'in_progress',
      parent_id: 'fg-e5a2',
      priority: 1,
      assignee: 'worker-1',
    }),
    graphTask('fg-c9d1', { title: 'Registration page', parent_id: 'fg-e5a2', type: 'feature' }),
    graphTask('fg-d4e7', {
      title: 'Sign-in page with passkey autofill',
      parent_id: 'fg-e5a2',
      type: 'feature',
      priority: 1,
    }),
    graphTask('fg-f6k2', { title: 'Recovery codes for a lost device', parent_id: 'fg-e5a2', ready: true }),
    graphTask('fg-g7m3', { title: 'Ship version 2.0', type: 'epic', priority: 1 }),
    graphTask('fg-h8n4', {
      title: 'Move sessions out of process memory',
      status: 'in_progress',
      state: 'review',
      assignee: 'worker-2',
      priority: 0,
    }),
    graphTask('fg-j9p5', { title: 'Load test with ten thousand sessions', parent_id: 'fg-g7m3' }),
    graphTask('fg-k1q6', {
      title: 'Upgrade guide',
      parent_id: 'fg-g7m3',
      ready: true,
      priority: 3,
      assignee: 'mika',
    }),
    graphTask('fg-m2r7', { title: 'Tag and publish the release', parent_id: 'fg-g7m3', priority: 1 }),
    graphTask('fg-n3s8', {
      title: 'Clock skew rejects valid challenges',
      type: 'bug',
      ready: true,
      priority: 0,
    }),
    graphTask('fg-p4t9', { title: 'Faster cold start of the test suite', ready: true, priority: 3 }),
    graphTask('fg-q5u1', {
      title: 'Dark theme for the emails',
      state: 'backlog',
      type: 'feature',
      priority: 4,
    }),
  ],
  edges: [
    graphEdge('fg-a3f8', 'fg-b2c1'),
    graphEdge('fg-b2c1', 'fg-c9d1'),
    graphEdge('fg-b2c1', 'fg-d4e7'),
    graphEdge('fg-a3f8', 'fg-f6k2'),
    graphEdge('fg-h8n4', 'fg-j9p5'),
    graphEdge('fg-d4e7', 'fg-j9p5'),
    graphEdge('fg-j9p5', 'fg-m2r7'),
    graphEdge('fg-k1q6', 'fg-m2r7'),
    graphEdge('fg-c9d1', 'fg-m2r7'),
    graphEdge('fg-b2c1', 'fg-n3s8', 'discovered-from'),
    graphEdge('fg-f6k2', 'fg-k1q6', 'related'),
  ],
};

/** Titles that mean something to HTML, XML, Markdown, Mermaid or Graphviz, or that hide something. */
export const HOSTILE_TITLES: readonly string[] = [
  '</text><script>alert(1)</script>',
  '"]:::closed; click t "javascript:alert(1)"',
  "it's \"quoted\" & 'quoted'",
  '`code` **bold** _it_ ~~x~~',
  '1. list',
  '# head',
  '$$x^2$$ fa:fa-car',
  'a\\nb \\N \\G \\',
  '&lt;b&gt; &#35; #quot; #35;',
  '[a]{b}(c)|d|<e>',
  '%%{init: {"theme":"dark"}}%% --> subgraph end',
  ']]> <!-- --> <?xml?> <![CDATA[x',
  'bell \u0007 escape \u001b[31m null-like \u0001',
  'reordered \u202egnp.exe\u2066 hidden\u200b\ufeff',
  'lone \ud800 and \udfff surrogates, \ufffe\uffff',
  '修复在并发写入时任务图丢失边的问题，并为此添加属性测试以防止再次出现同样的错误',
  'إصلاح الخطأ في محرك المزامنة عند فقدان الاتصال بالشبكة',
  '👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 pictures',
  'W'.repeat(500),
  'i '.repeat(250),
  'Z̷̢̛̤͇̖̫̆̾a̴͙̟̘͛l̶̼̓̎g̶̻̈́o̸͖̍͑'.repeat(8),
];
