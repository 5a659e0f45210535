import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomBytes } from './random-bytes.ts';

describe('random bytes', () => {
  it('are as many as asked for, and never the same', () => {
    const drawn = Array.from({ length: 200 }, () => Buffer.from(randomBytes(12)).toString('hex'));
    expect(drawn.every((one) => one.length === 24)).toBe(true);
    expect(new Set(drawn).size).toBe(200);
  });

  it('take every value', () => {
    expect(new Set(randomBytes(20_000)).size).toBe(256);
  });

  it.each(['/dev/null', '/nowhere/urandom', 'a file of zeros'])('do not come from %s', (device) => {
    using stack = new DisposableStack();
    const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'forge-random-')), (path) =>
      rmSync(path, { recursive: true }),
    );
    const path = device.startsWith('/') ? device : join(folder, 'urandom');
    if (path !== device) writeFileSync(path, Buffer.alloc(64));
    const bytes = randomBytes(32, path);
    expect(bytes).toHaveLength(32);
    expect(new Set(bytes).size).toBeGreaterThan(8);
  });
});
