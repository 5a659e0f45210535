import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

// An old Node is no part of the repository, so the file runs here under the name of another version, and its syntax is
// held against what Node 12 does not know.
const source = readFileSync(join(import.meta.dirname, '../bin/forge.cjs'), 'utf8').replace(/^#!.*/, '');

describe('bin/forge.cjs on a Node that is too old', () => {
  test.each(['12.22.12', '20.20.2', '22.30.0', '24.0.0', '24.14.1'])(
    '%s gets one line and exit 1',
    (version) => {
      expect(start(version)).toEqual({
        exit: 1,
        stderr: `forge needs Node 24.15 or newer; this is Node v${version}. Install it from https://nodejs.org, or run through npx or an npm script of a project that carries it.\n`,
        started: false,
      });
    },
  );

  test.each(['24.15.0', '24.21.0', '25.0.0', '26.1.0'])('%s starts', (version) => {
    expect(start(version)).toEqual({ exit: undefined, stderr: '', started: true });
  });

  test('uses no syntax that is newer than Node 12', () => {
    expect(source).not.toMatch(/\?\.|\?\?|^import\s|^\s*await\s|\b\d+_\d+|#\w+\s*[=;(]/m);
  });
});

function start(version: string): { exit: number | undefined; stderr: string; started: boolean } {
  const seen: { exit: number | undefined; stderr: string; started: boolean } = {
    exit: undefined,
    stderr: '',
    started: false,
  };
  const fake = {
    argv: ['node', 'forge', 'ready'],
    env: { HOME: '/home/somebody' },
    versions: { node: version },
    stderr: { write: (text: string) => (seen.stderr += text) },
    exit: (code: number) => (seen.exit = code),
  };
  const load = (name: string): unknown => {
    if (name === 'node:module') return { enableCompileCache: () => undefined };
    seen.started = name === '../dist/main.cjs';
    return { main: () => Promise.resolve() };
  };
  runInNewContext(source, { process: fake, require: load });
  return seen;
}
