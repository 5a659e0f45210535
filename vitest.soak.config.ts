import { defineConfig } from 'vitest/config';
import { ScoreReporter } from './scripts/score/score-reporter.ts';
import { SOAK_RESULTS } from './scripts/score/soak-results.ts';
import { TestSummaryReporter } from './scripts/test-summary-reporter.ts';

// Long runs under load and faults: not part of `npm test`.
export default defineConfig({
  test: {
    name: 'soak',
    include: ['src/**/*.soak.test.ts', 'tests/**/*.soak.test.ts'],
    allowOnly: false,
    maxWorkers: 2,
    testTimeout: 30 * 60_000,
    reporters: ['default', new TestSummaryReporter(), new ScoreReporter(SOAK_RESULTS)],
  },
});
