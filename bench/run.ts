import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchAttempts } from './attempts.ts';
import { benchClaims } from './claims.ts';
import { benchColdStart } from './cold-start.ts';
import type { Result } from './measure.ts';
import { benchReadyScale } from './ready-scale.ts';
import { isWithin, toPage, toTable } from './report.ts';
import { benchServer } from './server.ts';
import { benchSync } from './sync.ts';
import { benchSyncGit } from './sync-git.ts';
import { benchTrees } from './trees.ts';

// Measures and prints. A figure over its budget is marked, and the run ends with 1.
const LARGE = 1_000_000;
const PARTS: Record<string, () => Result[] | Promise<Result[]>> = {
  cold: benchColdStart,
  scale: () => benchReadyScale(LARGE),
  claims: benchClaims,
  trees: benchTrees,
  server: benchServer,
  attempts: benchAttempts,
  sync: async () => [...(await benchSync()), ...(await benchSyncGit())],
};
const NAMES = Object.keys(PARTS);
const WRITE = '--write';
const USAGE = [
  `npm run bench -- [${NAMES.join('|')}]… [${WRITE}]`,
  '',
  '  Measures the parts that are named, or all of them.',
  `  ${WRITE}  also puts their rows into docs/benchmarks.md; the rows of other parts stay as they are`,
].join('\n');

const words = process.argv.slice(2);
const unknown = words.filter((word) => word !== WRITE && !NAMES.includes(word));
if (unknown.length > 0) {
  // It takes many minutes, so a word that means nothing must not start it.
  const isHelp = unknown.every((word) => word === '--help' || word === '-h');
  console.error(isHelp ? USAGE : `There is no ${unknown.join(', no ')}\n${USAGE}`);
  process.exitCode = 2;
} else {
  process.exitCode = (await measure()) ? 0 : 1;
}

/** Whether all were within their budgets. */
async function measure(): Promise<boolean> {
  const wanted = NAMES.filter((part) => words.includes(part));
  const measured = new Map<string, Result[]>();
  for (const part of wanted.length > 0 ? wanted : NAMES) {
    console.log(`${part} …`);
    const found = (await PARTS[part]?.()) ?? [];
    console.log(toTable(found));
    measured.set(part, found);
    // After each: hours of measuring are not lost with the part that fails.
    if (words.includes(WRITE)) writePage(measured);
  }
  return [...measured.values()].flat().every(isWithin);
}

function writePage(measured: ReadonlyMap<string, readonly Result[]>): void {
  const path = join(import.meta.dirname, '../docs/benchmarks.md');
  writeFileSync(path, toPage(readFileSync(path, 'utf8'), NAMES, measured));
}
