import type { Reporter, TestModule } from 'vitest/node';

/**
 * Prints `N passed, N failed` (and `, N skipped`) alone on the last line of a run. The default reporter counts files and
 * tests in a table for people; this line is for programs.
 */
export class TestSummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    // Behind a microtask, so that it stays last whatever the other reporters print at the end of the run.
    queueMicrotask(() => console.log(summarise(modules, unhandledErrors)));
  }
}

/** The line for a finished run. */
export function summarise(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): string {
  let passed = 0;
  let skipped = 0;
  // An error outside of every test must not read as "0 failed".
  let failed = unhandledErrors.length;
  for (const module of modules) {
    const failedBefore = failed;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed += 1;
      else if (state === 'failed') failed += 1;
      else skipped += 1;
    }
    // A file that does not load, or whose hooks fail, fails without a failed test.
    if (!module.ok() && failed === failedBefore) failed += 1;
  }
  const counts = `${passed} passed, ${failed} failed`;
  return skipped > 0 ? `${counts}, ${skipped} skipped` : counts;
}
