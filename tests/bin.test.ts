import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

// An old Node is no part of the repository, so the file runs here under the name of another version, and its syntax is
// held against what Node 12 does not know.
const read = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../bin', name), 'utf8').replace(/^#!.*/, '');
const [source, newer] = [read('forge.cjs'), read('run-on-newer-node.cjs')];

describe('bin/forge.cjs on a Node that is too old', () => {
  test.each(['12.22.12', '20.20.2', '22.30.0', '24.0.0', '24.14.1'])(
    '%s gets one line and exit 1 where no other Node is near',
    (version) => {
      expect(start(version)).toEqual({
        exit: 1,
        stderr: `forge needs Node 24.15 or newer; this is Node v${version}. Install it from https://nodejs.org, or beside Forge: npm ci --prefix /place\n`,
        started: [],
      });
    },
  );

  test.each(['22.1.0', '24.14.9'])('takes no Node %s of a package', (version) => {
    expect(start('20.20.2', { version, bin: { node: 'bin/node' } })).toMatchObject({ exit: 1, started: [] });
  });

  test('starts the Node of a package with what it was started with', () => {
    expect(start('20.20.2', { version: '24.21.0', bin: { node: 'bin/node' } })).toEqual({
      exit: 7,
      stderr: '',
      started: ['/place/node_modules/bin/node --enable-source-maps forge ready'],
    });
  });

  test.each(['24.15.0', '24.21.0', '25.0.0', '26.1.0'])('%s starts', (version) => {
    expect(start(version)).toEqual({ exit: undefined, stderr: '', started: ['main'] });
  });

  test('uses no syntax that is newer than Node 12', () => {
    for (const text of [source, newer])
      expect(text).not.toMatch(/\?\.|\?\?|^import\s|^\s*await\s|\b\d+_\d+|#\w+\s*[=;(]/m);
  });
});

interface Seen {
  exit: number | undefined;
  stderr: string;
  started: string[];
}

function start(version: string, found?: { version: string; bin: { node: string } }): Seen {
  const seen: Seen = { exit: undefined, stderr: '', started: [] };
  const fake = {
    argv: ['node', 'forge', 'ready'],
    execArgv: ['--enable-source-maps'],
    env: { HOME: '/home/somebody' },
    versions: { node: version },
    platform: 'linux',
    arch: 'x64',
    stdin: {},
    stdout: {},
    stderr: { write: (text: string) => (seen.stderr += text) },
    on: () => undefined,
    exit: (code: number) => (seen.exit = code),
  };
  const spawn = (program: string, args: readonly string[]): unknown => {
    seen.started.push([program, ...args].join(' '));
    return {
      on: (event: string, heard: (code: number, signal: null) => void) => event === 'exit' && heard(7, null),
    };
  };
  const description = '/place/node_modules/package.json';
  const known: Record<string, () => unknown> = {
    path: () => posix,
    child_process: () => ({ spawn }),
    'node:module': () => ({ enableCompileCache: () => undefined }),
    '../dist/main.cjs': () => ({ main: () => Promise.resolve(seen.started.push('main')) }),
    [description]: () => found,
    './run-on-newer-node.cjs': () => run(newer),
  };
  const load = Object.assign((name: string): unknown => known[name]?.(), {
    resolve() {
      if (found === undefined) throw new Error('Cannot find module');
      return description;
    },
  });
  const run = (text: string): unknown => {
    const module = { exports: {} };
    runInNewContext(text, { process: fake, require: load, __dirname: '/place/bin', module });
    return module.exports;
  };
  run(source);
  return seen;
}
