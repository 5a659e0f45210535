import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { openPlace } from '../support/forge-cli.ts';
import { tempRepo } from '../support/temp-repo.ts';

const ROOT = join(import.meta.dirname, '../..');
const FORGE = join(ROOT, 'bin/forge.cjs');

/** The first Node on the PATH that is too old for Forge, by its folder. */
function findOldNode(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/bin'];
  return folders.find((folder) => {
    if (!existsSync(join(folder, 'node'))) return false;
    const { stdout } = spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' });
    const [, major = '99', minor = '0'] = /^v(\d+)\.(\d+)/.exec(stdout) ?? [];
    return Number(major) < 24 || (major === '24' && Number(minor) < 15);
  });
}

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  run(
    program: string,
    args: readonly string[],
    input?: string,
  ): { readonly exit: number | null; readonly stdout: string; readonly stderr: string };
}

const old = findOldNode();
const hasNewer = existsSync(join(ROOT, 'node_modules', `node-${process.platform}-${process.arch}`));

// Skipped where there is no older Node on the PATH, or npm brought no newer one for this platform.
describe.skipIf(old === undefined || !hasNewer)('forge on an older Node', () => {
  async function place(): Promise<Place> {
    const repo = await tempRepo();
    const { env: own } = await openPlace(repo);
    const env = { ...own, PATH: [old, '/usr/bin', '/bin'].join(delimiter) };
    return {
      path: repo.path,
      env,
      run(program, args, input = '') {
        const options = { cwd: repo.path, input, env, encoding: 'utf8' } as const;
        const { status, stdout, stderr } = spawnSync(program, args, options);
        return { exit: status, stdout, stderr };
      },
      [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
    };
  }

  it('runs on the Node that npm brought, with its input, its output and its exit code', async () => {
    await using repo = await place();
    expect(repo.run(FORGE, ['init'])).toMatchObject({ exit: 0, stderr: '' });
    const text = 'From standard input';
    expect(repo.run(FORGE, ['task', 'create', 'Long', '--description-file', '-'], text).exit).toBe(0);
    expect(repo.run(FORGE, ['task', 'list', '--json']).stdout).toContain(text);
    expect(repo.run(FORGE, ['task', 'show', 'fg-none']).exit).toBe(3);
    // What git starts later is the newer Node, without a detour.
    expect(readFileSync(join(repo.path, '.git/hooks/pre-commit'), 'utf8')).toContain(
      `node-${process.platform}-${process.arch}`,
    );
  });

  it('runs where it is linked into a project', async () => {
    await using repo = await place();
    mkdirSync(join(repo.path, 'node_modules/.bin'), { recursive: true });
    symlinkSync(ROOT, join(repo.path, 'node_modules/forge-ctl'));
    symlinkSync('../forge-ctl/bin/forge.cjs', join(repo.path, 'node_modules/.bin/forge'));
    const linked = repo.run(join(repo.path, 'node_modules/.bin/forge'), ['--version']);
    expect(linked).toMatchObject({ exit: 0, stderr: '' });
  });

  it('says what to type where no newer Node is near', async () => {
    await using repo = await place();
    cpSync(join(ROOT, 'bin'), join(repo.path, 'bin'), { recursive: true });
    expect(repo.run(join(repo.path, 'bin/forge.cjs'), ['ready'])).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(
        /^forge needs Node 24.15 or newer; this is Node v.*: npm ci --prefix .*\n$/,
      ) as string,
    });
  });

  it('ends with what it started when it is told to', async () => {
    await using repo = await place();
    repo.run(FORGE, ['init']);
    const child = spawn(FORGE, ['mcp'], {
      cwd: repo.path,
      env: repo.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    const [answer] = (await once(lines, 'line')) as [string];
    expect(JSON.parse(answer)).toMatchObject({ id: 1 });
    const ended = once(child, 'exit');
    const closed = once(child.stdout, 'close');
    child.kill('SIGTERM');
    await ended;
    // The program behind it held the other end.
    await closed;
  });
});
