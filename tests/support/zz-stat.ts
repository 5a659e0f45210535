import { makeSequence, runSequence } from './sync-sequence.ts';
import { SYNC } from './sync-world.ts';
const c: Record<string, number> = {}; 
for (let s = 0; s < 150; s++) { const r = await runSequence(makeSequence(s), SYNC);
 for (const t of r.told) { const m = /Z ([a-z .\/A-Z-]+): (.*)$/.exec(t); if (!m) continue; const [, d, w] = m; const out = /refused|conflict|merged|fast forward|up to date|pushed|nothing|no /.exec(w)?.[0] ?? 'ok'; c[`${d} → ${out}`] = (c[`${d} → ${out}`] ?? 0) + 1; } }
console.log(Object.entries(c).sort().map(([k, v]) => `${k}: ${v}`).join('\n'), 'crisscross', (globalThis as any).crisscross);
