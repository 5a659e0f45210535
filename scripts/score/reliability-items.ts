import { BENCH_PAGE } from './bench-results.ts';
import type { Item } from './judge-item.ts';
import { LOCKFILE } from './read-advisories.ts';

const NO_POSTGRES = 'there is no PostgreSQL store yet';
const BENCH = { project: 'bench', file: BENCH_PAGE } as const;

const TAKEOVER = 'tests/takeover.soak.test.ts';
const RESTART = 'tests/e2e/restart.soak.test.ts';

/** Faults and load, in the same way. */
export const RELIABILITY_ITEMS: readonly Item[] = [
  {
    number: 14,
    gate: true,
    name: 'Killed at every write',
    points: 6,
    parts: [
      {
        what: 'kills at write-class calls',
        target: 2_000,
        measures: [
          { project: 'soak', file: 'tests/e2e/sync-faults-kill.soak.test.ts', noted: /^(\d+) kills/ },
        ],
      },
    ],
  },
  {
    number: 15,
    gate: true,
    name: 'Killed at random under load',
    points: 5,
    parts: [
      {
        what: 'kills, no acknowledged write lost',
        target: 10_000,
        measures: [{ project: 'soak', file: 'src/store/crash.soak.test.ts', noted: /^(\d+) kills/ }],
      },
    ],
  },
  {
    number: 16,
    gate: false,
    name: 'Power loss',
    points: 3,
    parts: [
      {
        what: 'replayed power cuts, nothing acknowledged lost',
        target: 1_000,
        measures: [
          { project: 'soak', file: 'tests/e2e/power-loss.soak.test.ts', noted: /^(\d+) replays/ },
          { project: 'soak', file: 'tests/e2e/power-loss-held.soak.test.ts', noted: /^(\d+) replays/ },
        ],
      },
    ],
  },
  {
    number: 17,
    gate: true,
    name: 'Claims are linearizable',
    points: 6,
    parts: [
      {
        what: 'histories by processes and over HTTP',
        target: 1_000,
        // Ten rounds a test.
        measures: [
          { project: 'soak', file: 'tests/linear-claims.soak.test.ts', each: 10 },
          { project: 'soak', file: 'tests/linear-http.soak.test.ts', match: /^10 rounds/, each: 10 },
        ],
      },
      {
        what: 'the checker catches mutants',
        target: 10,
        measures: [{ project: 'unit', file: 'tests/linear-checker.test.ts' }],
      },
    ],
  },
  {
    number: 18,
    gate: true,
    name: 'Writes of a holder that lost its task',
    points: 3,
    parts: [
      {
        what: 'writes on six surfaces, none accepted',
        target: 1_000,
        measures: [{ project: 'soak', file: 'tests/zombies.soak.test.ts', match: /\[G18\]/, each: 1_000 }],
      },
    ],
  },
  {
    number: 19,
    gate: false,
    name: 'Time to take over',
    points: 2,
    parts: [
      {
        what: 'tasks of killed holders, taken over within 75 s',
        target: 99,
        no_half: true,
        measures: [
          { project: 'soak', file: TAKEOVER, match: /\[F45\]/, noted: /^(\d+) takeovers within 75 s/ },
        ],
      },
      {
        what: 'cycles of sleep and resume by processes, nothing taken',
        target: 100,
        no_half: true,
        measures: [{ project: 'soak', file: TAKEOVER, noted: /^(\d+) cycles .* by processes/ }],
      },
      {
        what: 'the same by a clock that is set, from a minute to hours',
        target: 100,
        no_half: true,
        measures: [{ project: 'soak', file: TAKEOVER, noted: /^(\d+) cycles .* by a clock/ }],
      },
    ],
  },
  {
    number: 20,
    gate: true,
    name: 'The task file loses nothing',
    points: 5,
    parts: [
      {
        what: 'random sequences over three clones',
        target: 5_000,
        measures: [
          { project: 'soak', file: 'tests/sync-sequences.soak.test.ts', each: 500 },
          { project: 'soak', file: 'tests/sync-process-sequences.soak.test.ts', each: 10 },
        ],
      },
    ],
  },
  {
    number: 21,
    gate: false,
    name: 'Damaged databases',
    points: 2,
    parts: [
      {
        what: 'damaged databases, found or harmless',
        target: 1_000,
        measures: [
          { project: 'e2e', file: 'tests/e2e/heal.e2e.test.ts', match: /\[F18\]/, each: 30 },
          { project: 'soak', file: 'tests/e2e/heal.soak.test.ts', noted: /^(\d+) databases/ },
        ],
      },
    ],
  },
  {
    number: 22,
    gate: false,
    name: 'Faults of the disk',
    points: 3,
    parts: [
      {
        what: 'scenarios with a full, failing or read-only disk',
        target: 8,
        measures: [
          { project: 'e2e', file: 'tests/e2e/faults-disk.e2e.test.ts' },
          { project: 'e2e', file: 'tests/e2e/sync-faults-disk.e2e.test.ts' },
        ],
      },
      {
        what: 'calls of export, fold and gc that fail, each once',
        target: 100,
        measures: [
          { project: 'soak', file: 'tests/e2e/sync-faults-disk.soak.test.ts', noted: /^(\d+) faults/ },
        ],
      },
    ],
  },
  {
    number: 23,
    gate: true,
    name: 'Trees of processes',
    points: 4,
    parts: [
      {
        what: 'runs of hostile agents, no process left',
        target: 1_000,
        measures: [{ project: 'soak', file: 'src/process/hostile-agents.soak.test.ts', each: 200 }],
      },
    ],
  },
  {
    number: 24,
    gate: false,
    name: 'Restart',
    points: 3,
    parts: [
      {
        what: 'kills of a server with fifty at work, all settled once within 10 s',
        target: 100,
        no_half: true,
        measures: [
          { project: 'soak', file: RESTART, match: /\[F36\]/, noted: /^(\d+) kills settled within 10 s/ },
        ],
      },
      {
        what: 'a planted double start and a planted unsettled run, found',
        target: 1,
        measures: [{ project: 'soak', file: RESTART, match: /are found/ }],
      },
      {
        what: 'fifty that two processes find at once, settled once each',
        target: 1,
        measures: [{ project: 'soak', file: 'src/engine/scheduler.soak.test.ts' }],
      },
    ],
  },
  {
    number: 25,
    gate: false,
    name: 'Claims under load, SQLite',
    points: 3,
    parts: [
      {
        what: 'processes at once without a busy error',
        target: 100,
        measures: [{ project: 'soak', file: 'tests/store-race.soak.test.ts', each: 100 }],
      },
      {
        what: 'claims in a second over HTTP, by 1,000 clients',
        target: 1_200,
        measures: [{ ...BENCH, match: /HTTP claims by 1000 clients/, noted: /^(\d+) \/ s/ }],
      },
    ],
  },
  {
    number: 26,
    gate: false,
    name: 'Claims under load, PostgreSQL',
    points: 3,
    parts: [{ what: 'workers', target: 200, measures: [], missing: NO_POSTGRES, later: true }],
  },
  {
    number: 27,
    gate: false,
    name: 'Events to many',
    points: 3,
    parts: [
      {
        what: 'subscribers that have an event within a second',
        target: 10_000,
        measures: [{ ...BENCH, match: /^10000 event readers/, each: 10_000 }],
      },
      {
        what: 'within 300 MB',
        target: 1,
        measures: [{ ...BENCH, match: /^memory for 10000 event readers/ }],
      },
      {
        what: 'readers that never read, cut, and no gap for the others',
        target: 500,
        measures: [{ ...BENCH, match: /^90000 events at 20 readers beside 500/, each: 500 }],
      },
    ],
  },
  {
    number: 28,
    gate: false,
    name: 'Many worktrees at once',
    points: 2,
    parts: [
      {
        what: 'parallel executions × rounds',
        target: 1_000,
        measures: [
          { project: 'soak', file: 'src/engine/many-at-once.soak.test.ts', noted: /^(\d+) executions/ },
        ],
      },
    ],
  },
  {
    number: 29,
    gate: false,
    name: 'Scale',
    points: 1,
    parts: [
      {
        what: 'import of 100,000 tasks within 5 s',
        target: 1,
        measures: [{ ...BENCH, match: /import of 100,000 tasks into/, noted: /^(\d+) ms/, at_most: 5_000 }],
      },
      {
        what: 'export of 100,000 tasks within 2 s',
        target: 1,
        measures: [{ ...BENCH, match: /export of 100,000 tasks, 65/, noted: /^(\d+) ms/, at_most: 2_000 }],
      },
      {
        what: 'ready among 1,000,000 tasks within 50 ms',
        target: 1,
        measures: [
          { ...BENCH, match: /in process, 1,000,000 tasks \(/, noted: /^(\d+) µs/, at_most: 50_000 },
        ],
      },
      {
        what: 'ready, a cold command, within 250 ms',
        target: 1,
        measures: [
          { ...BENCH, match: /forge ready --json.*cold/, noted: /^(\d+)(?:\.\d+)? ms/, at_most: 250 },
        ],
      },
    ],
  },
  {
    number: 30,
    gate: false,
    name: 'Track record and supply chain',
    points: 2,
    parts: [
      {
        what: 'dependencies',
        target: 1,
        measures: [{ project: 'unit', file: 'tests/dependencies.test.ts' }],
      },
      {
        what: 'floors of SQLite and MCP, no scripts at an installation, with planted violations',
        target: 24,
        no_half: true,
        measures: [
          { project: 'unit', file: 'src/store/sqlite-floor.test.ts' },
          { project: 'unit', file: 'tests/supply-chain.test.ts' },
        ],
      },
      {
        what: 'the floor of git, with a git that is too old',
        target: 15,
        no_half: true,
        measures: [{ project: 'git', file: 'tests/old-git.git.test.ts', match: /\[F29\]/ }],
      },
      {
        what: 'entries of the lockfile with a hash, in 100',
        target: 100,
        no_half: true,
        measures: [
          {
            project: 'unit',
            file: 'tests/supply-chain.test.ts',
            noted: /^(\d+) % of the entries have a hash/,
          },
        ],
      },
      {
        what: 'no advisory of a high severity',
        target: 1,
        measures: [{ project: 'audit', file: LOCKFILE, match: /^advisories$/ }],
        missing: 'the registry did not answer `npm audit`',
      },
      {
        what: 'provenance of what is published',
        target: 1,
        measures: [],
        missing: 'nothing is published yet',
        later: true,
      },
    ],
  },
];
