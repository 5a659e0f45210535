import { makeSequence, runSequence, describeFailure } from '/work/main/tests/support/sync-sequence.ts';
import { SYNC } from '/work/main/tests/support/sync-world.ts';
const [from, to, max] = process.argv.slice(2).map(Number);
let fails = 0; const t = Date.now(); let n=0, w=0;
for (let s = from; s < to; s++) {
  const q = makeSequence(s);
  const r = await runSequence(q, SYNC); n++; w+=r.writes;
  if (r.failures.length) { fails++; console.log('FAIL', s, q.steps.length, r.failures[0].slice(0, 300)); if (fails <= (max ?? 0)) console.log(await describeFailure(q, SYNC)); }
}
console.log(n, 'sequences', w, 'writes', fails, 'fails', (Date.now() - t) / n, 'ms each');
