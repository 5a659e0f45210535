import type { Item } from './judge-item.ts';

const NO_BROWSER = 'there is no page in a browser yet';
const NO_POSTGRES = 'there is no PostgreSQL store yet';

const HOSTILE = ['files', 'links', 'settings'].map((what) => `tests/hostile-${what}.soak.test.ts`);

/** Suites whose servers carry a loop monitor. */
const LOOP_SUITES: readonly string[] = [
  'tests/e2e/access.e2e.test.ts',
  'tests/e2e/linear-http.e2e.test.ts',
  'tests/e2e/remote.e2e.test.ts',
  'tests/e2e/serve-open-files.e2e.test.ts',
  'tests/e2e/serve-open.e2e.test.ts',
  'tests/e2e/serve-tls.e2e.test.ts',
  'tests/e2e/serve.e2e.test.ts',
  'tests/e2e/server-several.e2e.test.ts',
  'src/surfaces/http/fuzz.soak.test.ts',
  'tests/e2e/serve-abuse.soak.test.ts',
  'tests/linear-http.soak.test.ts',
  'tests/mcp-http.soak.test.ts',
];

/** Attacks: what is asked for, and the tests that measure it. A part without tests says why. */
export const SECURITY_ITEMS: readonly Item[] = [
  {
    number: 1,
    gate: true,
    name: 'Every route, socket and MCP call needs a token',
    points: 5,
    parts: [
      {
        what: 'routes × bad tokens refused',
        target: 240,
        // Each route with six tokens that are none.
        measures: [
          { project: 'git', file: 'src/surfaces/http/every-route.git.test.ts', match: /\[A1\]/, each: 6 },
        ],
      },
    ],
  },
  {
    number: 2,
    gate: true,
    name: 'Host, Origin and CSRF',
    points: 4,
    parts: [
      {
        what: 'combinations',
        target: 150,
        measures: [{ project: 'unit', file: 'src/surfaces/http/guard-request.test.ts' }],
      },
    ],
  },
  {
    number: 3,
    gate: true,
    name: 'Hostile repositories before trust',
    points: 5,
    parts: [
      {
        what: 'repositories × all verbs, nothing run',
        target: 60,
        measures: HOSTILE.map((file) => ({ project: 'soak', file, match: /\[B1\]/ })),
      },
      {
        what: 'the same without a packet sent',
        target: 60,
        measures: HOSTILE.map((file) => ({ project: 'soak', file, noted: /^(\d+) network/ })),
      },
      {
        what: 'planted runs, changes and packets, found',
        target: 3,
        measures: [
          { project: 'e2e', file: 'tests/e2e/hostile-repositories.e2e.test.ts', match: / finds /, each: 1 },
        ],
      },
    ],
  },
  {
    number: 4,
    gate: false,
    name: 'Trust is asked again after a change',
    points: 2,
    parts: [
      {
        what: 'commands × edits of one byte that ask again',
        target: 40,
        measures: [
          { project: 'git', file: 'src/sync/command-scripts.git.test.ts', noted: /^(\d+) asked again/ },
          { project: 'git', file: 'src/sync/trust.git.test.ts', match: /\[B5\]/ },
        ],
      },
    ],
  },
  {
    number: 5,
    gate: true,
    name: 'Commands that pass for others',
    points: 4,
    parts: [
      {
        what: 'commands that are not run unasked',
        target: 400,
        measures: [
          { project: 'unit', file: 'src/domain/match-command.test.ts' },
          { project: 'unit', file: 'src/executors/decide-permission.test.ts' },
        ],
      },
    ],
  },
  {
    number: 6,
    gate: true,
    name: 'Paths',
    points: 4,
    parts: [
      {
        what: 'paths × read, write, delete',
        target: 750,
        // Each path once for each of the three.
        measures: [{ project: 'unit', file: 'tests/hostile-paths.test.ts', noted: /^(\d+) paths/ }],
      },
      {
        what: 'tries against a folder that is swapped',
        target: 100_000,
        measures: [{ project: 'soak', file: 'src/executors/open-below.soak.test.ts', noted: /^(\d+) tries/ }],
      },
    ],
  },
  {
    number: 7,
    gate: true,
    name: 'Planted git settings and hooks',
    points: 4,
    parts: [
      {
        what: 'ways to run a program',
        target: 25,
        measures: [{ project: 'git', file: 'src/git/planted-git.git.test.ts', noted: /^(\d+) programs/ }],
      },
    ],
  },
  {
    number: 8,
    gate: false,
    name: 'Options, addresses and refs',
    points: 2,
    parts: [
      {
        what: 'names and addresses, none interpreted',
        target: 120,
        measures: [{ project: 'git', file: 'src/git/hostile-names.git.test.ts', noted: /^(\d+) names/ }],
      },
    ],
  },
  {
    number: 9,
    gate: true,
    name: 'Secrets',
    points: 4,
    parts: [
      {
        what: 'secrets × encodings × sinks without a hit',
        target: 3_000,
        measures: [{ project: 'soak', file: 'tests/leaks.soak.test.ts', noted: /^(\d+) looks/ }],
      },
      {
        what: 'the same with a planted leak, found',
        target: 1,
        measures: [{ project: 'soak', file: 'tests/leaks.soak.test.ts', match: /are found/ }],
      },
    ],
  },
  {
    number: 10,
    gate: false,
    name: 'Text that acts on a screen',
    points: 3,
    parts: [
      { what: 'HTML and markdown', target: 150, measures: [], missing: NO_BROWSER, later: true },
      {
        what: 'terminal',
        target: 80,
        measures: [
          { project: 'e2e', file: 'tests/e2e/terminal-payloads.e2e.test.ts', noted: /^(\d+) payloads/ },
        ],
      },
    ],
  },
  {
    number: 11,
    gate: false,
    name: 'Bad input',
    points: 3,
    parts: [
      {
        what: 'requests without a 5xx',
        target: 200_000,
        measures: [
          { project: 'soak', file: 'src/surfaces/http/fuzz.soak.test.ts', noted: /^(\d+) requests/ },
        ],
      },
      {
        what: 'mutated lines of task files',
        target: 1_000_000,
        measures: [{ project: 'soak', file: 'tests/task-file-lines.soak.test.ts', noted: /^(\d+) lines/ }],
      },
    ],
  },
  {
    number: 12,
    gate: false,
    name: 'SQL, prototypes, depth and size',
    points: 2,
    parts: [
      {
        what: 'on SQLite',
        target: 1,
        measures: [
          { project: 'e2e', file: 'tests/e2e/hostile-text.e2e.test.ts', match: /verbatim/ },
          { project: 'e2e', file: 'tests/e2e/bad-input-metadata.e2e.test.ts' },
        ],
      },
      { what: 'on PostgreSQL, the same', target: 1, measures: [], missing: NO_POSTGRES, later: true },
    ],
  },
  {
    number: 13,
    gate: false,
    name: 'Regular expressions and the event loop',
    points: 2,
    parts: [
      {
        what: 'all patterns of the program, none steep',
        target: 1,
        measures: [
          {
            project: 'unit',
            file: 'tests/linear-patterns.test.ts',
            match: /every regular expression of the program.*takes twice/,
          },
        ],
      },
      {
        what: 'steep patterns that are planted, found',
        target: 10,
        measures: [{ project: 'unit', file: 'tests/linear-patterns.test.ts', match: /must catch.*: \// }],
      },
      {
        what: 'suites without a block of the event loop over 200 ms',
        target: LOOP_SUITES.length,
        no_half: true,
        measures: LOOP_SUITES.map((file) => ({
          project: file.includes('.soak.') ? 'soak' : 'e2e',
          file,
          match: /longest block/,
          noted: /^(\d+) ms on the processor/,
          at_most: 200,
        })),
      },
      {
        what: 'a planted block, found',
        target: 1,
        measures: [{ project: 'e2e', file: 'tests/e2e/loop-blocks.e2e.test.ts', match: /is found/ }],
      },
    ],
  },
];
