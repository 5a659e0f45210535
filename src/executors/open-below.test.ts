import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { expectOwn, newCheckout } from '../../tests/support/swapped-folder.ts';
import { workOnFile } from './agent-files.ts';
import { openBelow } from './open-below.ts';

const REFUSED = /ELOOP|ENOTDIR|ENXIO|EISDIR|is not a plain file|is no file below/;

describe('a file below a folder that an agent changes', () => {
  it('is written with the folders on its way, and read', async () => {
    const { checkout } = await newCheckout();
    expect(workOnFile(checkout, { id: '1', path: 'a/b/c.txt', kind: 'write', text: 'one\ntwo' })).toEqual({
      done: true,
      text: '',
    });
    expect(workOnFile(checkout, { id: '2', path: 'a/b/c.txt', kind: 'read', line: 2 })).toEqual({
      done: true,
      text: 'two',
    });
    const wide = { id: '4', path: 'lines', kind: 'read', line: 2, limit: 2 } as const;
    writeFileSync(join(checkout, 'lines'), '1\n2\n3\n4');
    expect(workOnFile(checkout, wide)).toEqual({ done: true, text: '2\n3' });
    workOnFile(checkout, { id: '3', path: 'a/b/c.txt', kind: 'write', text: 'x' });
    expect(readFileSync(join(checkout, 'a/b/c.txt'), 'utf8')).toBe('x');
  });

  it.each(['read', 'write'] as const)('is no link, no pipe and no folder: %s', async (use) => {
    const { checkout, outside } = await newCheckout();
    symlinkSync(join(outside, 'secret'), join(checkout, 'link'));
    symlinkSync(outside, join(checkout, 'folder'));
    execFileSync('/usr/bin/env', ['mkfifo', join(checkout, 'pipe')]);
    mkdirSync(join(checkout, 'plain'));
    for (const parts of [
      ['link'],
      ['folder', 'secret'],
      ['pipe'],
      ['plain'],
      ['..', 'outside', 'secret'],
      [],
    ])
      expect(() => openBelow(checkout, parts, use)).toThrow(REFUSED);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
  });

  it.each(['.git/hooks/pre-commit', 'hooks/pre-commit', '../outside/secret', '/etc/hostname', '.'])(
    'is in the checkout, and not in git’s own folder: %s',
    async (path) => {
      const { checkout, outside } = await newCheckout();
      mkdirSync(join(checkout, '.git/hooks'), { recursive: true });
      symlinkSync('.git/hooks', join(checkout, 'hooks'));
      for (const kind of ['read', 'write'] as const)
        expect(workOnFile(checkout, { id: '1', path, kind, text: 'planted' })).toMatchObject({ done: false });
      expect(existsSync(join(checkout, '.git/hooks/pre-commit'))).toBe(false);
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    },
  );

  it('is not read where it is too large', async () => {
    const { checkout } = await newCheckout();
    for (const [name, more] of [
      ['fits', 0],
      ['large', 1],
    ] as const) {
      writeFileSync(join(checkout, name), '');
      truncateSync(join(checkout, name), LIMITS.agent_file_bytes + more);
    }
    expect(workOnFile(checkout, { id: '1', path: 'fits', kind: 'read' }).done).toBe(true);
    expect(workOnFile(checkout, { id: '1', path: 'large', kind: 'read' })).toMatchObject({
      done: false,
      reason: expect.stringContaining('too many'),
    });
  });

  it('is not another one while a folder on its way is swapped for a link', () => expectOwn(3_000));
});
