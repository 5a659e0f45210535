import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';

const GONE = spawnSync(process.execPath, ['-e', '0']).pid;

it('removes copies of processes that are gone, and nothing else', async () => {
  await using folder = await tempFolder();
  const kept = [`a.${process.pid}-1x.tmp`, `a.${GONE}.tmp`, `a.${GONE}-1x`, 'a.tmp', 'a.jsonl'].sort();
  for (const name of [...kept, `a.${GONE}-1x.tmp`, `b.${GONE}-2y.tmp`])
    writeFileSync(join(folder.path, name), '');
  sweepTemporaryFiles(folder.path, 'b.');
  expect(readdirSync(folder.path).sort()).toEqual([...kept, `a.${GONE}-1x.tmp`].sort());
  sweepTemporaryFiles(folder.path);
  expect(readdirSync(folder.path).sort()).toEqual(kept);
});

it('is no reason to fail', async () => {
  await using folder = await tempFolder();
  mkdirSync(join(folder.path, `a.${GONE}-1x.tmp`));
  sweepTemporaryFiles(folder.path);
  sweepTemporaryFiles(join(folder.path, 'nowhere'));
  expect(readdirSync(folder.path)).toHaveLength(1);
});
