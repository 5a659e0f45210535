import { existsSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { readLog } from './read-log.ts';
import { listRunLogFiles, replaceRunLog } from './run-log-files.ts';

const [ONE, TWO] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

it('finds the logs of runs with all their parts, the oldest first, and nothing else', async () => {
  await using records = await tempFolder();
  const add = (path: string, bytes: number, at: number): void => {
    const whole = join(records.path, path);
    mkdirSync(join(whole, '..'), { recursive: true });
    writeFileSync(whole, 'x'.repeat(bytes));
    utimesSync(whole, at, at);
  };
  add(`a/${ONE}.jsonl`, 10, 300);
  add(`a/${ONE}.jsonl.4096`, 20, 100);
  add(`a/${TWO}.jsonl`, 5, 200);
  // The same name in another attempt's folder is another log.
  add(`b/${ONE}.jsonl.10`, 7, 50);
  for (const other of [
    'record.json',
    'folder.json',
    '.forge.lock',
    `${ONE}.jsonl.tmp`,
    `${ONE}.jsonl.0`,
    'x.jsonl',
  ])
    add(`a/${other}`, 1_000, 1);
  add('stray', 1, 1);
  expect(await listRunLogFiles(records.path)).toEqual([
    { attempt_id: 'b', run_id: ONE, bytes: 7, changed_at: 50_000 },
    { attempt_id: 'a', run_id: TWO, bytes: 5, changed_at: 200_000 },
    { attempt_id: 'a', run_id: ONE, bytes: 30, changed_at: 300_000 },
  ]);
  expect(await listRunLogFiles(join(records.path, 'none'))).toEqual([]);
});

it('leaves one line of a log, with the mode it had, and follows no link', async () => {
  await using records = await tempFolder();
  const folder = join(records.path, 'a');
  const log = join(folder, `${ONE}.jsonl`);
  const outside = join(records.path, 'outside');
  mkdirSync(folder);
  writeFileSync(outside, 'kept');
  symlinkSync(outside, join(folder, `${TWO}.jsonl`));
  writeFileSync(log, 'x'.repeat(5_000), { mode: 0o640 });
  writeFileSync(`${log}.5000`, 'y'.repeat(5_000));
  const said = { at: '2026-02-10T09:00:00.000Z', text: 'it went' };
  for (const run_id of [ONE, TWO]) replaceRunLog(records.path, { attempt_id: 'a', run_id }, said);
  expect(readLog({ path: log, offset: 0, limit: 10 }).lines).toEqual([
    { v: 1, seq: 1, at: said.at, kind: 'note', text: 'it went' },
  ]);
  expect([existsSync(`${log}.5000`), statSync(log).mode & 0o777]).toEqual([false, 0o640]);
  expect(statSync(outside).size).toBe(4);
});
