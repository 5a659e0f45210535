import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FORGE, type ForgeProject, forgeProject } from '../support/forge-cli.ts';

const PROBE = fileURLToPath(new URL('../support/probe-network.ts', import.meta.url));
/** An address that is no loopback one, on a network with nobody else in it. */
const ADDRESS = '192.0.2.10';
const NETWORK = `ip link set lo up && ip address add ${ADDRESS}/32 dev lo && exec "$@"`;
const inNetwork = ['-rn', 'sh', '-c', NETWORK, 'sh'];
// Needs Linux that lets people make namespaces.
const hasNetworks = spawnSync('unshare', [...inNetwork, 'true']).status === 0;
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.runIf(hasNetworks)('forge serve on an address that others can reach', () => {
  test('listens there when it is told that this is meant', async () => {
    await using project = await forgeProject();
    const flags = ['--host', ADDRESS, '--allow-insecure-network'];
    expect(await probe(project, [ADDRESS], flags)).toEqual({
      url: `http://${ADDRESS}:PORT`,
      code: 0,
      answers: { [ADDRESS]: [401, 200, 421] },
    });
  });

  test.runIf(hasOpenssl)('listens there with TLS', async () => {
    await using project = await forgeProject();
    const flags = ['--host', ADDRESS, ...makeCertificate(project)];
    expect(await probe(project, [ADDRESS], flags)).toEqual({
      url: `https://${ADDRESS}:PORT`,
      code: 0,
      answers: { [ADDRESS]: [401, 200, 421] },
    });
  });

  test('goes by every address of the machine when it listens to all of them', async () => {
    await using project = await forgeProject();
    const everywhere = { [ADDRESS]: [401, 200, 421], '127.0.0.1': [401, 200, 421] };
    expect(
      await probe(project, [ADDRESS, '127.0.0.1'], ['--host', '0.0.0.0', '--allow-insecure-network']),
    ).toEqual({ url: 'http://0.0.0.0:PORT', code: 0, answers: everywhere });
    expect(
      await probe(project, [ADDRESS, '127.0.0.1', '::1'], ['--host', '::', '--allow-insecure-network']),
    ).toEqual({ url: 'http://[::]:PORT', code: 0, answers: { ...everywhere, '::1': [401, 200, 421] } });
  });

  test('refuses it otherwise, whatever else is said', async () => {
    await using project = await forgeProject();
    for (const [flags, code] of [
      [['--host', ADDRESS], 'permission_denied'],
      [['--host', ADDRESS, '--tls-cert', 'cert.pem'], 'invalid_input'],
      [['--host', ADDRESS, '--tls-cert', 'cert.pem', '--tls-key', 'key.pem'], 'io_failed'],
      // An address of somebody else.
      [['--host', '192.0.2.77', '--allow-insecure-network'], 'invalid_input'],
    ] as const) {
      const args = [...inNetwork, process.execPath, FORGE, 'serve', '--port', '0', '--json', ...flags];
      const { stdout, exit } = await project.exec('unshare', args);
      expect([flags, JSON.parse(stdout)]).toMatchObject([flags, { error: { code } }]);
      expect(exit).not.toBe(0);
    }
  });
});

async function probe(
  project: ForgeProject,
  addresses: readonly string[],
  flags: readonly string[],
): Promise<unknown> {
  const args = [...inNetwork, process.execPath, PROBE, FORGE, addresses.join(','), ...flags];
  const { stdout, stderr, exit } = await project.exec('unshare', args);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

function makeCertificate({ home }: ForgeProject): string[] {
  const [cert, key] = [join(home, 'cert.pem'), join(home, 'key.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=forge'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return ['--tls-cert', cert, '--tls-key', key];
}
