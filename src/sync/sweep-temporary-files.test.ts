import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { FIRST_PID_NAMESPACE, readNamespace } from '#process/read-place.ts';
import { toTemporaryPath } from '#process/temporary-path.ts';
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

it('tells who made a copy from another process with the same number, and keeps what cannot be known', async () => {
  await using folder = await tempFolder();
  const at = (name: string) => join(folder.path, name);
  const own = basename(toTemporaryPath(at('a')));
  const [, head = '', start = '', host = '', boot = '', space = '', rest = ''] =
    /^(a\.\d+-)([0-9a-z]+)-(.{6})(.{6})(.{6})(-[0-9a-z]+\.tmp)$/.exec(own) ?? [];
  const elsewhere = `${head}${start}-${host}${boot}xxxxxx${rest}`;
  // Who is in the machine's own namespace of processes sees those of all others; nobody else can know.
  const seesAll = readNamespace('self') === FIRST_PID_NAMESPACE;
  const kept = [own, `${head}${start}-xxxxxx${boot}${space}${rest}`, ...(seesAll ? [] : [elsewhere])];
  const left = [
    ...(seesAll ? [elsewhere] : []),
    `${head}1${start}-${host}${boot}${space}${rest}`, // the number is alive, and another process's
    `${head}${start}-${host}xxxxxx${space}${rest}`, // before the machine was started last
    `a.${GONE}-${start}-${host}${boot}${space}${rest}`,
  ];
  for (const name of [...kept, ...left]) writeFileSync(at(name), '');
  sweepTemporaryFiles(folder.path, 'a.');
  expect(readdirSync(folder.path).sort()).toEqual(kept.sort());
});

it('is no reason to fail', async () => {
  await using folder = await tempFolder();
  mkdirSync(join(folder.path, `a.${GONE}-1x.tmp`));
  sweepTemporaryFiles(folder.path);
  sweepTemporaryFiles(join(folder.path, 'nowhere'));
  expect(readdirSync(folder.path)).toHaveLength(1);
});
