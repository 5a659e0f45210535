import { makeSequence, runSequence } from './sync-sequence.ts';
import { SYNC_MUTANTS } from './sync-mutants.ts';
for (const [name, m] of Object.entries(SYNC_MUTANTS)) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  let hit = [];
  for (let s = 0; s < 60 && hit.length < 2; s++) { const r = await runSequence(makeSequence(s), m); if (r.failures.length) hit.push([s, r.failures[0].slice(0,160)]); }
  console.log(name, JSON.stringify(hit));
}
