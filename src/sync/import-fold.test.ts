import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemActor } from '#domain/actor.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { newRecord } from '#domain/task-changes.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { toImportFold } from './fold-files.ts';
import { METER_LINES } from './work-meter.ts';

it('[D14] a file that is imported is read a piece at a time, and tells how far it is', async () => {
  await using temp = await tempStore();
  const path = join(temp.folder, 'theirs.jsonl');
  const texts = Array.from({ length: METER_LINES + 1 }, (_, i) => toLine(i));
  const text = `${texts.join('\n')}\n`;
  writeFileSync(path, Buffer.concat([Buffer.from(text), Buffer.from([0x22, 0xff, 0x0a])]));
  const told: [string, number, number][] = [];
  const request = toImportFold('import:theirs.jsonl', path, {
    dry_run: false,
    clock: () => temp.clock.now(),
    meter: (...now) => void told.push(now),
  });
  const report = await temp.store.foldTasks(request, {
    actor: systemActor('test'),
    now: temp.clock.now(),
  });
  expect(report.created).toBe(texts.length);
  expect(report.unreadable).toEqual([{ number: 0, why: 'it is not UTF-8' }]);
  const bytes = Buffer.byteLength(text) + 3;
  expect(told).toEqual([
    ['Importing tasks', texts.slice(0, METER_LINES).join('\n').length + 1, bytes],
    ['', 0, 0],
  ]);
});

function toLine(i: number): string {
  const task = { id: `fg-t${1000 + i}`, created_by: 'bob', fields: { title: `Task ${i}` }, state: 'todo' };
  const nothing = { assignee: null, labels: [], dependencies: [], metadata: new Map() };
  return encodeRecord(newRecord({ ...task, ...nothing }, 1_700_000_000_000 + i));
}
