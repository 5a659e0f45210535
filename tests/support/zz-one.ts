import { makeSequence, runSequence } from './sync-sequence.ts';
import { SYNC } from './sync-world.ts';
const r = await runSequence(makeSequence(Number(process.argv[2])), SYNC);
console.log(r.told.join('\n')); console.log(r.failures);
