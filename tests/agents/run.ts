// Installs the agent CLIs, tries them without a network, and writes docs/agents.md: `npm run test:agents`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { openProcessHost } from '#process/process-host.ts';
import { installAgents } from './install-agents.ts';
import { readRows, renderReport } from './report.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const cache = process.env['FORGE_AGENTS_CACHE'] ?? join(ROOT, 'node_modules', '.cache', 'forge-agents');
const out = mkdtempSync(join(tmpdir(), 'forge-agents-out-'));
const rows = join(out, 'rows.jsonl');
writeFileSync(rows, '');

/** A network of their own, in which there is nothing but us. */
const OFFLINE = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const vitest = [
  process.execPath,
  join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--config',
  'vitest.agents.config.ts',
  ...process.argv.slice(2),
];

try {
  const bin = installAgents(cache);
  const offline = start([...OFFLINE, 'true'], { stdio: 'ignore' }) === 0;
  const network = offline
    ? 'They ran in a network namespace with nothing but loopback.'
    : 'The system allows no network namespace: they ran with the network that is there.';
  process.stdout.write(`${network}\n`);
  const env = { ...process.env, FORGE_AGENTS_BIN: bin, FORGE_AGENTS_ROWS: rows };
  process.exitCode = start([...(offline ? OFFLINE : []), ...vitest], { stdio: 'inherit', env }) ?? 1;
  // A run of some scenarios is no report.
  if (process.argv.length === 2) await writeReport(network);
} finally {
  rmSync(out, { recursive: true, force: true });
}

async function writeReport(network: string): Promise<void> {
  const { containment } = await openProcessHost();
  const report = renderReport(readRows(rows), {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    machine: `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB of memory, ${platform()} ${arch()}`,
    network,
    containment: `a ${containment.kind.replace('_', ' ')}`,
  });
  writeFileSync(join(ROOT, 'docs', 'agents.md'), report);
  process.stdout.write('docs/agents.md is written\n');
}

function start(
  [program = '', ...args]: readonly string[],
  options: { readonly stdio: 'ignore' | 'inherit'; readonly env?: NodeJS.ProcessEnv },
): number | null {
  return spawnSync(program, args, { cwd: ROOT, ...options }).status;
}
