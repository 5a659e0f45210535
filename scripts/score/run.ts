import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BENCH_PAGE, readBench } from './bench-results.ts';
import { judgeItem, sumUp } from './judge-item.ts';
import { LOCKFILE, readAdvisories } from './read-advisories.ts';
import { ITEMS } from './score-items.ts';
import { toPage, toTable } from './score-page.ts';
import { readResults } from './score-reporter.ts';
import { SOAK_RESULTS } from './soak-results.ts';

// Runs the quick measurements, reads the long ones from what the last soak and the last bench wrote, prints the table and writes it into
// docs/security.md. Ends with 1 where a gate has failed.
const ROOT = resolve(import.meta.dirname, '../..');
/** What is run here; the others are read. */
const VITEST_PROJECTS: ReadonlySet<string> = new Set(['unit', 'git', 'e2e']);
const AUDIT_MS = 60_000;
const PAGE = join(ROOT, 'docs/security.md');

const quick = runQuick();
const bench = { [BENCH_PAGE]: readBench(readFileSync(join(ROOT, BENCH_PAGE), 'utf8')) };
const advisories = askAdvisories();
const results = { ...readResults(SOAK_RESULTS), ...bench, ...quick, ...advisories };
const items = ITEMS.map((item) => judgeItem(item, results));
console.log(toTable(items));
writeFileSync(PAGE, toPage(readFileSync(PAGE, 'utf8'), items));
const { broken, open } = sumUp(items);
for (const { number, name } of broken) console.error(`Gate ${number} has failed: ${name}`);
for (const { number, name, state } of open) console.error(`Gate ${number} is ${state}: ${name}`);
process.exitCode = broken.length > 0 ? 1 : 0;

function runQuick(): ReturnType<typeof readResults> {
  const folder = mkdtempSync(join(tmpdir(), 'forge-score-'));
  const path = join(folder, 'results.json');
  const files = new Set(
    ITEMS.flatMap(({ parts }) => parts)
      .flatMap(({ measures }) => measures)
      .flatMap(({ project, file }) => (VITEST_PROJECTS.has(project) ? [file] : [])),
  );
  try {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const env = { ...process.env, FORGE_SCORE_RESULTS: path };
    // What fails is in the results.
    spawnSync(process.execPath, [vitest, 'run', ...files], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return readResults(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing where the registry does not answer: the part is then not measured. */
function askAdvisories(): ReturnType<typeof readResults> {
  const { stdout } = spawnSync('npm', ['audit', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: AUDIT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
    // npm is a script there.
    shell: process.platform === 'win32',
  });
  const result = readAdvisories(stdout ?? '', new Date().toISOString());
  return result === undefined ? {} : { [LOCKFILE]: result };
}
