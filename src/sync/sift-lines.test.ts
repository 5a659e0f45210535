import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { foldFiles } from './fold-files.ts';
import { listWholeFiles } from './keep-whole-file.ts';
import { siftLines } from './sift-lines.ts';

const MANY = 30_000;
const at = '2026-01-01T00:00:00.000Z';
const task = (id: string): string =>
  JSON.stringify({
    id,
    title: `Task ${id}`,
    status: 'open',
    created_at: at,
    created_by: 'ann',
    updated_at: at,
  });

describe('a file of very many short lines', () => {
  it.each([
    ['lines that are no tasks', '{}\n', 1_002, MANY - 1_000],
    ['blank lines', '\n', 2, 0],
    ['lines that are no JSON', 'x\n', 1_002, MANY - 1_000],
    ['lines that are no text', '\u00ff\n', 2, MANY - 10_000],
  ])('of %s is read before the lock, and few of them under it', async (_name, line, lines, more) => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'tasks.jsonl');
    writeFileSync(path, `${task('fg-aaaa')}\n${line.repeat(MANY)}${task('fg-bbbb')}\n`, 'latin1');
    const sifted = siftLines(path, 'id');
    expect([sifted?.lines.length, sifted?.more]).toEqual([lines, more]);
    expect(sifted?.lines.at(-1)).toEqual({ text: task('fg-bbbb'), number: MANY + 2 });
  });

  it('is joined in with all its tasks, and its other lines are counted', async () => {
    await using temp = await tempStore();
    const tasks = join(temp.folder, 'files.jsonl');
    writeFileSync(tasks, `${task('fg-aaaa')}\n${'{}\n'.repeat(MANY)}${task('fg-bbbb')}\n`);
    const fold = () =>
      foldFiles(
        temp.store,
        { tasks, history: join(temp.folder, 'none.jsonl'), copies: temp.folder },
        {
          actor: { kind: 'system', name: 'fold', named: true },
          now: temp.clock.now(),
          clock: () => Date.now(),
          findHeld: async () => undefined,
          findSeen: async () => new Set(),
        },
      );
    const folded = await fold();
    expect(folded.tasks).toMatchObject({ created: 2, unreadable_more: MANY - 1_000 });
    expect(folded.tasks?.unreadable).toHaveLength(1_000);
    expect(await temp.store.readUnreadable(tasks)).toHaveLength(1_000);
    // An export would not write the others back.
    const copies = listWholeFiles(temp.folder);
    expect(copies.map((name) => readFileSync(join(temp.folder, name), 'utf8'))).toEqual([
      readFileSync(tasks, 'utf8'),
    ]);
    expect(copies.map((name) => statSync(join(temp.folder, name)).mode & 0o777)).toEqual([0o600]);
    expect((await temp.store.listTasks({})).map(({ id }) => id)).toEqual(['fg-aaaa', 'fg-bbbb']);
    // Read once: what did not change is not looked at again.
    expect((await fold()).tasks).toBeUndefined();
  });

  it('is any other file where its lines are as long as those of tasks, or few', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'tasks.jsonl');
    writeFileSync(path, '{}\n'.repeat(9_000));
    expect(siftLines(path, 'id')).toBeUndefined();
    writeFileSync(path, `${task('fg-aaaa')}\n`.repeat(11_000));
    expect(siftLines(path, 'id')).toBeUndefined();
  });
});
