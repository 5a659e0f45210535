import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { CANARIES, plantCanaries } from '../../tests/support/canaries.ts';
import { toChildEnvironment } from './child-environment.ts';
import { hostOf, newMarker } from './run-behaviour.ts';
import { startSupervised } from './supervise.ts';

describe('the environment of a child', () => {
  it('[H1] holds none of 50 canaries, as the child itself says', async (context) => {
    expect(CANARIES.length).toBeGreaterThanOrEqual(50);
    const planted = plantCanaries();
    const env = toChildEnvironment({ ...process.env, ...planted }, { FORGE_TASK_ID: 'fg-a3f8' });
    const host = await hostOf('marker', context);
    const lines: string[] = [];
    const run = await startSupervised(
      {
        argv: ['/usr/bin/env'],
        cwd: tmpdir(),
        env,
        marker: newMarker(),
        stdin: 'none',
        host,
        limits: { total_ms: 60_000, idle_ms: 60_000, output_bytes: 1_000_000 },
      },
      { line: (_, { text }) => void lines.push(text) },
    );
    await run.done;
    expect(lines).toContain('FORGE_TASK_ID=fg-a3f8');
    expect(lines.filter((line) => line.includes('canary'))).toEqual([]);
    // The parent's would have shown them: the same program, without the list.
    expect(Object.values({ ...process.env, ...planted }).join()).toContain('canary-0-of-many');
  });

  it('keeps what a program needs to find its files, its language and its network', () => {
    const parent = {
      PATH: '/bin',
      HOME: '/home/ann',
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      TERM: 'xterm',
      TZ: 'UTC',
      XDG_CONFIG_HOME: '/home/ann/.config',
      NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
      https_proxy: 'http://proxy:3128',
      NO_PROXY: 'localhost',
    };
    expect(toChildEnvironment(parent)).toEqual(parent);
  });

  it('leaves a proxy with a password behind, and takes it when it is given by name', () => {
    const proxy = { HTTPS_PROXY: 'http://ann:secret@proxy:3128' };
    expect(toChildEnvironment(proxy)).toEqual({});
    expect(toChildEnvironment({}, proxy)).toEqual(proxy);
  });

  it('has the last word with what is given, and refuses what no environment can hold', () => {
    expect(toChildEnvironment({ PATH: '/bin', TERM: undefined }, { PATH: '/usr/bin' })).toEqual({
      PATH: '/usr/bin',
    });
    for (const extras of [{ '': 'x' }, { 'A=B': 'x' }, { A: 'x\0y' }]) {
      expect(() => toChildEnvironment({}, extras)).toThrow('cannot be set in an environment');
    }
  });
});
