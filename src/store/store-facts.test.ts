import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { create } from './behaviour/open-behaviour.ts';

/** What another program did to what the store knows of its replica. */
const FACTS: Readonly<Record<string, string>> = {
  '[T14-4] no size of the replica': "DELETE FROM store_facts WHERE name = 'replica_bytes'",
  '[T14-4] no facts at all': 'DELETE FROM store_facts',
  '[T14-5] a size below 0': "UPDATE store_facts SET value = -5 WHERE name = 'replica_bytes'",
  '[T14-5] a size that is a word': "UPDATE store_facts SET value = 'abc' WHERE name = 'replica_bytes'",
  '[T14-5] a size that is a fraction': "UPDATE store_facts SET value = 1.5 WHERE name = 'replica_bytes'",
  '[T14-5] a size beyond all numbers':
    "UPDATE store_facts SET value = 9223372036854775807 WHERE name = 'replica_bytes'",
  '[T14-5] a size of 0': "UPDATE store_facts SET value = 0 WHERE name = 'replica_bytes'",
  '[T14-5] a size that is too large': "UPDATE store_facts SET value = 99999 WHERE name = 'replica_bytes'",
  '[T14-5] another file': "UPDATE store_facts SET value = 'abc' WHERE name = 'replica_inode'",
};

describe.each(Object.entries(FACTS))('%s', (_name, sql) => {
  it.each(['block', 'await'] as const)('loses no task, on a store that waits by %s', async (lock) => {
    for (const replica of ['kept', 'gone', 'open'] as const) {
      await using temp = await tempStore({ lock });
      await create(temp, 'One');
      await create(temp, 'Two');
      change(temp, sql);
      if (replica !== 'open')
        await temp.reopen(() => (replica === 'gone' ? rmSync(temp.replica) : undefined));
      await create(temp, 'Three');
      expect(await titles(temp)).toEqual(['One', 'Three', 'Two']);
      expect((await temp.store.diagnose(temp.clock.now())).replica_complete).toBe(true);
      await temp.rebuild();
      expect(await titles(temp)).toEqual(['One', 'Three', 'Two']);
    }
  });
});

describe('[T14-4] a database that forgets how much of the replica it holds', () => {
  it.each(['block', 'await'] as const)(
    'refuses a write and names the doctor, on a store that waits by %s',
    async (lock) => {
      await using temp = await tempStore({ lock });
      await create(temp, 'One');
      change(
        temp,
        `CREATE TRIGGER forget AFTER UPDATE ON store_facts WHEN NEW.name = 'replica_bytes' AND NEW.value >= 0
          BEGIN UPDATE store_facts SET value = -1 WHERE name = 'replica_bytes'; END;
        UPDATE store_facts SET value = -1 WHERE name = 'replica_bytes'`,
      );
      await expect(create(temp, 'Never')).rejects.toMatchObject({
        code: 'store_corrupt',
        hint: expect.stringContaining('forge doctor --rebuild') as string,
      });
      expect(await titles(temp)).toEqual(['One']);
    },
  );
});

describe('[T14-5] a row that cannot be read beside a replica that is gone', () => {
  it.each(['{x', '5', '[7]'])('is named by a write that needs it: labels %s', async (labels) => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'One');
    rmSync(temp.replica);
    change(temp, `UPDATE tasks SET labels = '${labels}'`);
    await expect(create(temp, 'Two')).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining(id) as string,
    });
  });
});

it('[T14-4] what was exported is remembered also where its row is missing', async () => {
  await using temp = await tempStore();
  await create(temp, 'One');
  change(temp, "DELETE FROM store_facts WHERE name = 'exported_seq'");
  const mark = { path: 'x', size: 1, mtime: '1', ctime: '1', inode: '1', digest: 'x', looked_at: 1 };
  await temp.store.markExported([{ ...mark, event_seq: 1 }]);
  using db = temp.connect();
  expect(db.prepare("SELECT value FROM store_facts WHERE name = 'exported_seq'").get()).toEqual({ value: 1 });
});

async function titles({ store }: TempStore): Promise<string[]> {
  return (await store.listTasks({})).map(({ title }) => title).toSorted();
}

function change(temp: TempStore, sql: string): void {
  using db = temp.connect();
  db.exec(sql);
}
