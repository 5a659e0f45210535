import fc from 'fast-check';
import { it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { storeEqualsModel } from './behaviour/model-run-behaviour.ts';
it('more', async () => {
  const out = await fc.check(storeEqualsModel({}), { numRuns: 1500 });
  writeFileSync('/tmp/model-new.json', JSON.stringify({ failed: out.failed, seed: out.seed, path: out.counterexamplePath, n: out.numRuns, shown: String(out.counterexample?.[0]), err: String((out as any).errorInstance?.stack ?? '').slice(0,1800) }, null, 1));
}, 400000);
