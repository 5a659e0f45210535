import { makeProcessSequence, runProcessSequence } from './sync-process-sequence.ts';
const [from, to] = process.argv.slice(2).map(Number);
for (let s = from; s < to; s++) {
  const t = Date.now();
  const r = await runProcessSequence(makeProcessSequence(s));
  console.log(s, r.failures.length ? 'FAIL' : 'ok', Date.now() - t, 'ms');
  if (r.failures.length || process.argv[4]) console.log(r.told.join('\n'), '\n', r.failures.join('\n').slice(0, 3000));
}
