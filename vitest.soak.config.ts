import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { ScoreReporter } from './scripts/score/score-reporter.ts';
import { SOAK_RESULTS } from './scripts/score/soak-results.ts';
import { TestSummaryReporter } from './scripts/test-summary-reporter.ts';
import { leavesToSoak } from './tests/support/share-of.ts';

// Tests with tables of which `npm test` runs a share, or with stories that it leaves out; here all are run.
const WIDE = globSync('{src,tests}/**/*.test.ts').filter((path) => leavesToSoak(readFileSync(path, 'utf8')));

// Long runs under load and faults: not part of `npm test`.
export default defineConfig({
  test: {
    name: 'soak',
    include: ['src/**/*.soak.test.ts', 'tests/**/*.soak.test.ts', ...WIDE],
    env: { FORGE_WHOLE_TABLES: '1' },
    allowOnly: false,
    maxWorkers: 2,
    testTimeout: 30 * 60_000,
    // As in `npm test`, whose files are run here too.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', new TestSummaryReporter(), new ScoreReporter(SOAK_RESULTS)],
  },
});
