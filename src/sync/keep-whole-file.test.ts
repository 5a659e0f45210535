import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { foldFile, readFoldRequest, toTextFold } from './fold-request.ts';
import { keepWholeFile, listWholeFiles } from './keep-whole-file.ts';

const by = { actor: { kind: 'system', name: 'fold', named: true }, now: 1 } as const;

it('keeps one copy of each state of a file, and the newest five', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'tasks.jsonl');
  for (let second = 1; second <= 7; second += 1) {
    writeFileSync(path, `state ${second}\n`);
    utimesSync(path, second, second);
    keepWholeFile(path, folder.path);
    keepWholeFile(path, folder.path);
  }
  const states = listWholeFiles(folder.path).map((name) => readFileSync(join(folder.path, name), 'utf8'));
  expect(states).toEqual([3, 4, 5, 6, 7].map((second) => `state ${second}\n`));
});

it.each([
  ['lines that are no JSON', 'x'.repeat(200)],
  ['lines that are no UTF-8', '\u00ff'.repeat(200)],
])('copies a file before more %s are left out of it than are written back', async (_name, line) => {
  await using temp = await tempStore();
  const path = join(temp.folder, 'files.jsonl');
  const fold = () =>
    foldFile(readFoldRequest(path, { clock: () => 1 }), (one) => temp.store.foldTasks(one, by), {
      file: path,
      copies: temp.folder,
    });
  writeFileSync(path, `${line}\n`.repeat(10_000), 'latin1');
  await fold();
  expect(listWholeFiles(temp.folder)).toEqual([]);
  writeFileSync(path, `${line}\n`.repeat(10_001), 'latin1');
  expect(await fold()).toMatchObject({ unreadable_more: 1 });
  expect(listWholeFiles(temp.folder)).toHaveLength(1);
});

it('copies a history whose lines are not all written back', async () => {
  await using temp = await tempStore();
  const path = join(temp.folder, 'history.jsonl');
  writeFileSync(path, `${'x'.repeat(200)}\n`.repeat(10_001));
  const request = readFoldRequest(path, { clock: () => 1 });
  const how = { file: path, copies: temp.folder };
  const done = await foldFile(request, (one) => temp.store.foldHistory(one, by), how);
  expect(done.copy_first).toBeUndefined();
  expect(listWholeFiles(temp.folder)).toHaveLength(1);
});

it('copies nothing of lines that stand in no file', async () => {
  await using temp = await tempStore();
  const lines = Array.from({ length: 10_001 }, (_, at) => ({ text: 'x', number: at + 1 }));
  await temp.store.foldTasks(toTextFold('import:x', lines, { digest: 'x', now: 1 }), by);
  expect(listWholeFiles(temp.folder)).toEqual([]);
});
