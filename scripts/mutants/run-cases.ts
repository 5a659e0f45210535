import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Between the names of suites and of the case, as vitest matches them. */
export const BETWEEN = ' > ';

/** One case of a test file, by its whole name. */
export interface TestCase {
  readonly path: string;
  readonly name: string;
  readonly took_ms: number;
  readonly passed: boolean;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly duration?: number | null;
    }[];
  }[];
}

/** Runs test files, or only the named cases of them. False where one fails, or the run hangs. */
export async function runVitest(run: {
  readonly copy: string;
  readonly tests: readonly string[];
  readonly report: string;
  readonly timeout_ms: number;
  readonly names?: readonly string[];
}): Promise<boolean> {
  const { copy, tests, names, report } = run;
  rmSync(report, { force: true });
  const kinds = tests.map((test) => /\.(git|e2e)\.test\.ts$/.exec(test)?.[1] ?? 'unit');
  const args = [
    join(copy, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...[...new Set(kinds)].flatMap((kind) => ['--project', kind]),
    '--reporter=json',
    `--outputFile=${report}`,
    ...(names === undefined ? [] : ['--bail', '1', '-t', toPattern(names)]),
    ...tests,
  ];
  // In a process group of its own: a mutant that never yields hangs in a worker, which outlives the runner.
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', detached: true });
  const end = (): void => endGroup(child.pid);
  const timer = setTimeout(end, run.timeout_ms);
  process.on('exit', end);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  process.off('exit', end);
  return code === 0;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function toPattern(names: readonly string[]): string {
  return `^(?:${names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})$`;
}

/** What a run said of its cases; those that were left out are not among them. */
export function readCases(copy: string, report: string): readonly TestCase[] {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ ancestorTitles, title, status, duration }) => ({
        path: file.replace(`${copy}/`, ''),
        name: [...ancestorTitles, title].join(BETWEEN),
        took_ms: Math.ceil(duration ?? 0),
        passed: status === 'passed',
      })),
  );
}
