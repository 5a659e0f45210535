import { makeSequence, runSequence } from './sync-sequence.ts';
import { SYNC_MUTANTS } from './sync-mutants.ts';
for (const [name, m] of Object.entries(SYNC_MUTANTS)) {
  let hit = [];
  for (let s = 0; s < 100 && hit.length < 3; s++) { const r = await runSequence(makeSequence(s), m); if (r.failures.length) hit.push([s, r.failures[0].slice(0,120)]); }
  console.log(name, JSON.stringify(hit));
}
