import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportLines, fold } from '../../tests/support/fold-lines.ts';
import { removeDatabase, tempStore } from '../../tests/support/temp-store.ts';
import { by, create, everything } from './behaviour/open-behaviour.ts';

describe('a crash in the middle of a fold', () => {
  it.each([
    ['as they were exported', 6, (line: string) => line],
    // Of each edited line the replica also says what it showed.
    ['edited by hand', 12, (line: string) => line.replace('Comes', 'Edited')],
  ])('F2 takes all of it back, wherever the lines of the replica end: %s', async (_, count, edit) => {
    await using there = await tempStore();
    for (let n = 0; n < 6; n += 1) await create(there, `Comes ${n}`);
    await using temp = await tempStore();
    await create(temp, 'Here before');
    const before = await everything(temp);
    const copy = `${temp.database}.copy`;
    await temp.reopen(() => copyFileSync(temp.database, copy));
    const start = statSync(temp.replica).size;
    await fold(temp, (await exportLines(there)).map(edit));
    const after = await exportLines(temp);
    const written = readFileSync(temp.replica);
    const ends = [...written.keys()].filter((at) => at >= start && written[at] === 0x0a).map((at) => at + 1);
    expect(ends).toHaveLength(count);
    for (const size of [start + 3, ...ends.slice(0, -1), (ends.at(-2) ?? 0) + 20, written.length - 1]) {
      await temp.reopen(async () => {
        await removeDatabase(temp.database);
        copyFileSync(copy, temp.database);
        writeFileSync(temp.replica, written.subarray(0, size));
      });
      expect(await everything(temp)).toEqual(before);
      expect(statSync(temp.replica).size).toBe(start);
    }
    await temp.reopen(() => writeFileSync(temp.replica, written));
    expect(await exportLines(temp)).toEqual(after);
  });

  it('F6 what a killed compaction left of its copy goes with the next one', async () => {
    await using temp = await tempStore();
    await create(temp, 'Task');
    writeFileSync(`${temp.replica}.4711.tmp`, 'half');
    writeFileSync(`${temp.replica}.backup`, 'mine');
    await temp.store.compactReplica(by(temp));
    const left = readdirSync(dirname(temp.replica)).filter((name) => name.startsWith('tasks.jsonl'));
    expect(left.sort()).toEqual(['tasks.jsonl', 'tasks.jsonl.backup']);
  });

  it('what was pruned is told by an event, or the files would count as up to date', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Goes');
    await temp.store.deleteTask({ id }, by(temp));
    temp.clock.advance(1_000);
    const before = await temp.store.newestEvent();
    await temp.store.prune(temp.clock.now(), by(temp));
    expect(await temp.store.newestEvent()).toBe(before + 1);
    await temp.store.prune(temp.clock.now(), by(temp));
    expect(await temp.store.newestEvent()).toBe(before + 1);
  });
});
