import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly os?: unknown;
  readonly cpu?: unknown;
}

type Lock = Readonly<Record<string, LockEntry>>;

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const lock = (read('package-lock.json') as { packages: Lock }).packages;

describe('the floor of the MCP library', () => {
  it('is kept by every part of it', () => {
    const parts = Object.entries(lock).filter(([path]) => path.includes('/@modelcontextprotocol/'));
    expect(parts.length).toBeGreaterThanOrEqual(3);
    expect(parts.filter(([, { version = '0' }]) => !isAtLeast(version, [1, 26]))).toEqual([]);
  });

  it.each(['1.25.9', '1.9.0', '0.99.0'])('is above %s', (version) => {
    expect(isAtLeast(version, [1, 26])).toBe(false);
  });
});

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b >= minor);
}

describe('an installation', () => {
  it('runs nothing of ours but the link to Node, and that for contributors only', () => {
    expect(listInstallScripts('package.json', read('package.json') as Manifest)).toEqual([
      'package.json: prepare: node runtime/link-node.js',
    ]);
    expect(listInstallScripts('runtime', read('runtime/package.json') as Manifest)).toEqual([]);
  });

  it('runs nothing of what is installed, takes it from the registry alone, and compares its hash', async ({
    annotate,
  }) => {
    const { faults, hashed, all } = examineLock(lock);
    expect(faults).toEqual([]);
    await annotate(`${Math.floor((100 * hashed) / all)} % of the entries have a hash: ${hashed} of ${all}`);
  });

  it('has exact versions of what we name', () => {
    for (const path of ['package.json', 'runtime/package.json']) {
      const { dependencies, devDependencies, optionalDependencies } = read(path) as Manifest;
      const named = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
      expect(named.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    }
  });

  it.each<[string, LockEntry, string]>([
    ['a script', { version: '1.0.0', integrity: 'sha512-x', hasInstallScript: true }, 'runs a script'],
    ['another place', { integrity: 'sha512-x', resolved: 'git+ssh://git@example.com/x.git' }, 'comes from'],
    ['an address', { integrity: 'sha512-x', resolved: 'https://example.com/x.tgz' }, 'comes from'],
    ['no hash', { version: '1.0.0' }, 'has no hash'],
    ['no hash and optional everywhere', { version: '1.0.0', optional: true }, 'has no hash'],
    ['a weak hash', { version: '1.0.0', integrity: 'sha1-x' }, 'has no hash'],
  ])('with %s is found', (_what, entry, fault) => {
    expect(examineLock({ 'node_modules/x': entry }).faults).toEqual([expect.stringContaining(fault)]);
  });

  it('with a script of ours is found', () => {
    expect(listInstallScripts('x', { scripts: { postinstall: 'node x.js', test: 'vitest' } })).toEqual([
      'x: postinstall: node x.js',
    ]);
  });
});

/** What npm runs by itself when a package is installed, or when its folder is. */
const RUN_BY_NPM = /^(?:pre|post)?(?:install|prepare)$|^(?:pre|post)?prepublish$|^dependencies$/;

function listInstallScripts(name: string, { scripts = {} }: Manifest): string[] {
  return Object.entries(scripts)
    .filter(([script]) => RUN_BY_NPM.test(script))
    .map(([script, command]) => `${name}: ${script}: ${command}`);
}

/**
 * An entry without `resolved` comes from the registry that npm is set to (see .npmrc); one with it could come from
 * anywhere. Binaries for other platforms may lack a hash: a registry that does not hold them tells none.
 */
function examineLock(entries: Lock): { faults: string[]; hashed: number; all: number } {
  const faults: string[] = [];
  const installed = Object.entries(entries).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  );
  let hashed = 0;
  for (const [path, { resolved, integrity, hasInstallScript, optional, os, cpu }] of installed) {
    const isHashed = integrity?.startsWith('sha512-') === true;
    const isOfOnePlatform = optional === true && (os !== undefined || cpu !== undefined);
    if (hasInstallScript === true) faults.push(`${path} runs a script when it is installed`);
    if (resolved !== undefined) faults.push(`${path} comes from ${resolved}`);
    if (isHashed) hashed += 1;
    else if (integrity !== undefined || !isOfOnePlatform) faults.push(`${path} has no hash`);
  }
  return { faults, hashed, all: installed.length };
}
