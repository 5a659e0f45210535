import { expect, it } from 'vitest';
import { isCollision, makeTriple } from '../../tests/support/graph-triples.ts';
import { findViolations } from '../../tests/support/join-laws.ts';
import { FORGE, fromFile } from '../../tests/support/join-world.ts';

const TRIPLES = 100_000;
/** Beyond the seeds of the short run. */
const FIRST_SEED = 1_000_000;

it(`the laws of the join hold for ${TRIPLES.toLocaleString('en')} triples of files`, () => {
  let operations = 0;
  let collisions = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + TRIPLES; seed += 1) {
    const triple = makeTriple(seed, FORGE);
    const found = findViolations(FORGE, triple);
    if (found.length > 0) throw new Error(`Seed ${seed}: ${JSON.stringify(found, null, 2)}`);
    operations += triple.changes.length;
    if (isCollision(triple.files.map((file) => fromFile(FORGE, file)))) collisions += 1;
  }
  process.stdout.write(`${TRIPLES} triples, ${operations} operations, ${collisions} with a collision\n`);
  expect(operations).toBeGreaterThan(5 * TRIPLES);
  expect(collisions).toBeGreaterThan(0.15 * TRIPLES);
});
