import { defineConfig } from 'vitest/config';
import { TestSummaryReporter } from './scripts/test-summary-reporter.ts';

// Real agent CLIs, which have to be installed: not part of `npm test`. Run by tests/agents/run.ts.
export default defineConfig({
  test: {
    name: 'agents',
    include: ['tests/agents/**/*.agents.test.ts'],
    allowOnly: false,
    // One at a time: each takes a core and some hundred megabytes.
    maxWorkers: 1,
    testTimeout: 10 * 60_000,
    reporters: ['verbose', new TestSummaryReporter()],
  },
});
