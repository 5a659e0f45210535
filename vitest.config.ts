import { configDefaults, defineConfig } from 'vitest/config';
import { ScoreReporter } from './scripts/score/score-reporter.ts';
import { TestSummaryReporter } from './scripts/test-summary-reporter.ts';

// The suffix of a test says what it needs; what needs more than Node leaves the unit project.
const NEEDS_MORE = '**/*.{git,e2e,soak,pg,web}.test.ts';

// For the projects that start processes: each start copies the page tables of the worker, so a worker with little memory
// starts them faster; a small heap for new objects took a tenth off the processor time. The unit project starts few, and
// would only collect garbage more often.
const SMALL_WORKER = ['--max-semi-space-size=1'];

// Where `npm run score` wants to read how the tests ended.
const SCORE = process.env['FORGE_SCORE_RESULTS'];

export default defineConfig({
  test: {
    allowOnly: false,
    // Twice the two cores of a small machine: a worker waits half of its time, for the processes that it started.
    maxWorkers: 4,
    // The default of one second fails on a busy machine, which is slow and not wrong.
    expect: { poll: { timeout: 15_000 } },
    globalSetup: ['tests/support/memory-folder.ts'],
    reporters: [
      'default',
      new TestSummaryReporter(),
      ...(SCORE === undefined ? [] : [new ScoreReporter(SCORE)]),
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'tests/*.test.ts'],
          exclude: [...configDefaults.exclude, NEEDS_MORE],
          // Starting an environment for every file was nine tenths of the time; modules hold no state here.
          isolate: false,
          // A busy machine is slow, not wrong.
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'git',
          include: ['src/**/*.git.test.ts', 'tests/**/*.git.test.ts'],
          // As above; a worker of its own for every file took a seventh of the processor time.
          isolate: false,
          execArgv: SMALL_WORKER,
          testTimeout: 90_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.e2e.test.ts'],
          // As above: most of these call what a command calls, and loading that again took a second a file.
          isolate: false,
          execArgv: SMALL_WORKER,
          testTimeout: 180_000,
        },
      },
    ],
  },
});
