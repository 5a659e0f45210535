import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** What measurements write is among the files of the repository. */
const RESULTS = [
  'tests/soak-results.json',
  'tests/mutant-runs.json',
  'docs/security.md',
  'docs/benchmarks.md',
];

/** What was measured: the commit, and whether files of it were changed. */
export function readCommit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    const others = [':/', ...RESULTS.map((path) => `:(exclude,top)${path}`)];
    const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', ...others) !== '';
    return `${git('rev-parse', '--short=10', 'HEAD')}${isChanged ? ' and changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
