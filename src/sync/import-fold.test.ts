import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemActor } from '#domain/actor.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { newRecord } from '#domain/task-changes.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { foldFile, readImport } from './fold-request.ts';

it('[D14] an import tells how far it is', async () => {
  await using temp = await tempStore();
  const path = join(temp.folder, 'theirs.jsonl');
  const texts = Array.from({ length: 1_001 }, (_, i) => toLine(i));
  const text = `${texts.join('\n')}\n`;
  writeFileSync(path, Buffer.concat([Buffer.from(text), Buffer.from([0x22, 0xff, 0x0a])]));
  const told: [string, number, number][] = [];
  const request = readImport('import:theirs.jsonl', path, () => temp.clock.now());
  const by = { actor: systemActor('test'), now: temp.clock.now() };
  const report = await foldFile(request, (one) => temp.store.foldTasks(one, by), {
    file: path,
    copies: temp.folder,
    label: 'Importing tasks',
    meter: (...now) => void told.push(now),
  });
  expect(report.created).toBe(texts.length);
  expect(report.unreadable).toEqual([{ number: 0, why: 'it is not UTF-8' }]);
  expect(told).toEqual([
    ['Importing tasks', 1_000, texts.length],
    ['', 0, 0],
  ]);
});

function toLine(i: number): string {
  const task = { id: `fg-t${1000 + i}`, created_by: 'bob', fields: { title: `Task ${i}` }, state: 'todo' };
  const nothing = { assignee: null, labels: [], dependencies: [], metadata: new Map() };
  return encodeRecord(newRecord({ ...task, ...nothing }, 1_700_000_000_000 + i));
}
