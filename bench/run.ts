import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchClaims } from './claims.ts';
import { benchColdStart } from './cold-start.ts';
import type { Result } from './measure.ts';
import { benchReadyScale } from './ready-scale.ts';
import { toMarkdown, toTable } from './report.ts';
import { benchServer } from './server.ts';
import { benchSync } from './sync.ts';
import { benchSyncGit } from './sync-git.ts';
import { benchTrees } from './trees.ts';

// `npm run bench` measures and prints; `-- --write` also puts the table into docs/benchmarks.md; a word such as
// `cold` or `claims` runs only that part. A figure over its budget is marked, and the run ends with 1.
const LARGE = 1_000_000;
const PARTS: Record<string, () => Result[] | Promise<Result[]>> = {
  cold: benchColdStart,
  scale: () => benchReadyScale(LARGE),
  claims: benchClaims,
  trees: benchTrees,
  server: benchServer,
  sync: async () => [...(await benchSync()), ...(await benchSyncGit())],
};

const words = process.argv.slice(2);
const wanted = Object.keys(PARTS).filter((part) => words.includes(part));
const results: Result[] = [];
for (const part of wanted.length > 0 ? wanted : Object.keys(PARTS)) {
  console.log(`${part} …`);
  const found = (await PARTS[part]?.()) ?? [];
  console.log(toTable(found));
  results.push(...found);
}
if (words.includes('--write'))
  writeFileSync(join(import.meta.dirname, '../docs/benchmarks.md'), toMarkdown(results));
process.exitCode = results.some((result) => !isWithin(result)) ? 1 : 0;

function isWithin({ ratio, budget, sense }: Result): boolean {
  return sense === 'at most' ? ratio <= budget : ratio >= budget;
}
