import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { measureFolder } from './measure-folder.ts';

it('counts what is below a folder, and nothing behind a link', async () => {
  await using folder = await tempFolder();
  await folder.write('large', 'x'.repeat(1_000_000));
  await folder.write('inside/deep/file', 'x'.repeat(100_000));
  symlinkSync('../../large', join(folder.path, 'inside', 'deep', 'link'));
  const inside = await measureFolder(join(folder.path, 'inside'));
  expect(inside).toBeGreaterThanOrEqual(100_000);
  expect(inside).toBeLessThan(500_000);
  expect(await measureFolder(folder.path)).toBeGreaterThan(1_000_000);
  expect(await measureFolder(join(folder.path, 'gone'))).toBe(0);
});

it('stops at the limit', async () => {
  await using folder = await tempFolder();
  for (const name of ['a', 'b', 'c']) await folder.write(name, 'x'.repeat(100_000));
  const [one, all] = [await measureFolder(folder.path, { entries: 1 }), await measureFolder(folder.path)];
  expect(one).toBeGreaterThan(0);
  expect(one).toBeLessThan(all);
  expect(await measureFolder(folder.path, { until: performance.now() - 1 })).toBe(0);
});
