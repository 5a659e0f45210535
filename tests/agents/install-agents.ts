import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AGENTS } from './agents.ts';

/**
 * Puts the agent CLIs into a folder of their own, from the npm registry and nowhere else; does nothing where they are
 * there already. Gives the folder of their programs. Throws where npm cannot get them.
 */
export function installAgents(cache: string): string {
  const bin = join(cache, 'node_modules', '.bin');
  const wanted = AGENTS.filter((agent) => !isInstalled(cache, agent));
  if (wanted.length === 0) return bin;
  mkdirSync(cache, { recursive: true });
  if (!existsSync(join(cache, 'package.json')))
    writeFileSync(join(cache, 'package.json'), '{"name":"forge-agents","private":true}\n');
  // Scripts of what they depend on would build add-ons, with headers from elsewhere; none of the four needs them.
  const packages = AGENTS.map(({ package: name, version }) => `${name}@${version}`);
  run(cache, ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...packages]);
  for (const { package: name, postinstall } of AGENTS) {
    const folder = join(cache, 'node_modules', name);
    if (postinstall !== undefined) run(folder, [process.execPath, join(folder, postinstall)]);
  }
  return bin;
}

function isInstalled(cache: string, agent: { readonly package: string; readonly version: string }): boolean {
  const manifest = join(cache, 'node_modules', agent.package, 'package.json');
  if (!existsSync(manifest)) return false;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version === agent.version;
}

/** npm picks older releases when an older Node runs it, so ours is first on the PATH. */
function run(cwd: string, [program = '', ...args]: readonly string[]): void {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
  const { status, error } = spawnSync(program, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw error ?? new Error(`${program} ended with exit code ${status ?? 'unknown'}`);
}
