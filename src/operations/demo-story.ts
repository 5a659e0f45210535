/** The demo: a small repository, a plan, and agents whose every step was written down before. */

export interface DemoTask {
  readonly key: string;
  readonly title: string;
  readonly flags: readonly string[];
  readonly after: readonly string[];
}

export const EPIC = 'Ship the greeting service';
export const AGENTS = ['ada', 'bob'] as const;
export const STEP = 'node check.mjs';

export const GRAPH: readonly DemoTask[] = [
  { key: 'names', title: 'Keep the names in a file', flags: ['--priority', '1'], after: [] },
  {
    key: 'crash',
    title: 'Fix the crash on an empty name',
    flags: ['--type', 'bug', '--priority', '0', '--label', 'crash'],
    after: [],
  },
  {
    key: 'server',
    title: 'Answer GET /greeting',
    flags: ['--type', 'feature', '--priority', '1'],
    after: ['names', 'crash'],
  },
  { key: 'page', title: 'Show the greeting on a page', flags: ['--type', 'feature'], after: ['server'] },
  { key: 'docs', title: 'Say in the README how to ask', flags: [], after: ['server'] },
  { key: 'release', title: 'Tag version 1.0', flags: [], after: ['page', 'docs'] },
];

/** What is there before the first task. */
export const FILES: Readonly<Record<string, string>> = {
  'greet.mjs': 'export const greet = (name) => `Hello, ${name[0].toUpperCase()}${name.slice(1)}!`;\n',
  'README.md': '# Greeting service\n\nChanges:\n',
  'check.mjs': `import { existsSync } from 'node:fs';
import { greet } from './greet.mjs';

const wrong = [];
if (greet('ada') !== 'Hello, Ada!') wrong.push(\`greet('ada') is \${greet('ada')}\`);
if (existsSync('server.mjs')) {
  const { answer } = await import('./server.mjs');
  const got = answer('/greeting?name=ada');
  if (got !== 'Hello, Ada!') wrong.push(\`GET /greeting?name=ada answers \${got}\`);
}
for (const line of wrong) console.log(line);
process.exit(wrong.length === 0 ? 0 : 1);
`,
};

const server = (name: string): string => `import { greet } from './greet.mjs';

export const answer = (url) => greet(new URL(url, 'http://localhost').searchParams.get('${name}') ?? 'you');
`;
const README = FILES['README.md'] ?? '';
const PAGE_LINE = '- There is a page at /.\n';
const DOCS_LINE = '- Ask for /greeting?name=ada.\n';

/**
 * One of them writes a server that answers wrongly, and corrects it when the check says so. Two of them work at the
 * same time on the same line of the README; the one that comes second is told, and keeps both.
 */
export const TRAJECTORIES = [
  {
    match: 'conflicts with main',
    steps: [
      { say: 'Both lines belong there.' },
      { write: { path: 'README.md', text: `${README}${PAGE_LINE}${DOCS_LINE}` } },
    ],
  },
  {
    match: `The check \`${STEP}\``,
    steps: [
      { say: 'The parameter is called name.' },
      { write: { path: 'server.mjs', text: server('name') } },
    ],
  },
  {
    match: 'Keep the names in a file',
    steps: [{ sleep_ms: 200 }, { write: { path: 'names.json', text: '["ada", "bob"]\n' } }],
  },
  {
    match: 'Fix the crash on an empty name',
    steps: [
      { sleep_ms: 200 },
      {
        write: {
          path: 'greet.mjs',
          text: "export const greet = (name) => (name ? `Hello, ${name[0].toUpperCase()}${name.slice(1)}!` : 'Hello!');\n",
        },
      },
    ],
  },
  {
    match: 'Answer GET /greeting',
    steps: [{ sleep_ms: 200 }, { write: { path: 'server.mjs', text: server('who') } }],
  },
  {
    match: 'Show the greeting on a page',
    steps: [
      { sleep_ms: 1_000 },
      { write: { path: 'page.html', text: '<h1 id="greeting">Hello!</h1>\n' } },
      { append: { path: 'README.md', text: PAGE_LINE } },
    ],
  },
  {
    match: 'Say in the README how to ask',
    steps: [{ sleep_ms: 1_000 }, { append: { path: 'README.md', text: DOCS_LINE } }],
  },
  { match: 'Tag version 1.0', steps: [{ write: { path: 'VERSION', text: '1.0.0\n' } }] },
] as const;
