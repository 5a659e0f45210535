import { cpSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { FORGE, forgeFolder, forgeProject } from '../support/forge-cli.ts';

describe('[U5] an installation that is gone', () => {
  it.each([
    ['standard', [], ['ready']],
    ['stealth', ['--stealth'], ['task', 'create', 'One']],
  ])('is replaced in MCP entries by the next command of another one: %s', async (_mode, flags, command) => {
    await using place = await forgeFolder();
    execFileSync('git', ['init', '--quiet'], { cwd: place.path, env: place.env });
    const copy = copyProgram(dirname(place.path));
    const old = (...args: readonly string[]): string =>
      execFileSync(process.execPath, [join(copy, 'bin/forge.cjs'), ...args], {
        cwd: place.path,
        env: place.env,
        encoding: 'utf8',
      });
    old('init', ...flags);
    old('mcp', 'install', '--client', 'claude');
    old('mcp', 'install', '--client', 'codex');
    rmSync(copy, { recursive: true });
    const { exit, stderr } = await place.run(...command);
    expect(exit).toBe(0);
    expect(stderr).toMatch(
      /^forge: MCP entries named a Forge that is gone and name this one now: .*codex.*$/m,
    );
    const files = [join(place.path, '.mcp.json'), join(String(place.env.HOME), '.codex/config.toml')];
    for (const file of files) expect(readFileSync(file, 'utf8')).toContain(FORGE);
    expect((await place.run(...command)).stderr).toBe('');
  });

  it('is told by the doctor, with the command that helps, and mended by --fix', async () => {
    await using project = await forgeProject();
    await project.create('One');
    await project.write(
      '.mcp.json',
      JSON.stringify({
        mcpServers: { forge: { command: '/nowhere/node', args: ['/nowhere/forge.cjs', 'mcp'] } },
      }),
    );
    const told = await project.text('doctor');
    expect(told).toMatch(
      /^warning\s+mcp entries .*\.mcp\.json\n {2}try: forge mcp install --client claude --scope project$/m,
    );
    expect(await project.text('doctor', '--fix')).toMatch(/^fixed\s+mcp entries/m);
    expect(await project.read('.mcp.json')).toContain(FORGE);
  });
});

function copyProgram(folder: string): string {
  const copy = join(folder, 'installed');
  const root = join(dirname(FORGE), '..');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  return copy;
}
