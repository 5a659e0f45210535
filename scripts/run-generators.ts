// Runs every generator of committed files, in order; `--check` makes each only report (exit 1 when a file is stale).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const GENERATORS = ['build-sql-module.ts', 'generate.ts'];

const scripts = GENERATORS.map((file) => join(import.meta.dirname, file)).filter((path) => existsSync(path));
for (const script of scripts) {
  const { status } = spawnSync(process.execPath, [script, ...process.argv.slice(2)], { stdio: 'inherit' });
  // With --check all of them report; otherwise a later generator may need what an earlier one wrote.
  if (status !== 0) process.exitCode = 1;
  if (status !== 0 && !process.argv.includes('--check')) break;
}
