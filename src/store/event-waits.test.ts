import { renameSync } from 'node:fs';
import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';

const LONG_MS = 600_000;

describe.each(['block', 'await'] as const)(
  'a wait for events in SQLite, where a lock is met by %s',
  (lock) => {
    it('ends with an event of another program', async () => {
      await using temp = await tempStore({ lock });
      using other = temp.connect();
      const waiting = temp.store.waitFor(0, { timeout_ms: LONG_MS });
      insertEvent(other);
      expect(await waiting).toBe(1);
    });

    it('sees one that came before its first look at the counter, and each after it', async () => {
      await using temp = await tempStore({ lock });
      using other = temp.connect();
      for (let seen = 0; seen < 5; seen += 1) {
        const waiting = temp.store.waitFor(seen, { timeout_ms: LONG_MS });
        insertEvent(other);
        expect(await waiting).toBe(seen + 1);
      }
    });

    it('does not end with a commit that is no event, or that is taken back', async () => {
      await using temp = await tempStore({ lock });
      const { id } = await create(temp, 'One');
      const seen = await temp.store.newestEvent();
      using other = temp.connect();
      let isOver = false;
      const waiting = temp.store.waitFor(seen, { timeout_ms: LONG_MS }).finally(() => (isOver = true));
      other.exec("UPDATE store_facts SET value = 1 WHERE name = 'exported_seq'");
      await temp.store.markForeign(new Map());
      await expect(temp.store.moveTask({ ...MOVE, id }, by(temp))).rejects.toMatchObject({
        code: 'state_invalid',
      });
      other.exec('BEGIN');
      insertEvent(other);
      other.exec('ROLLBACK');
      await temp.store.waitFor(seen, { timeout_ms: 120 });
      expect(isOver).toBe(false);
      await create(temp, 'Another');
      await waiting;
    });

    it('ends where another database was put in the place of its own', async () => {
      await using temp = await tempStore({ lock });
      const waiting = temp.store.waitFor(0, { timeout_ms: LONG_MS });
      renameSync(temp.database, `${temp.database}.away`);
      expect(await waiting).toBe(0);
      renameSync(`${temp.database}.away`, temp.database);
    });

    it('is told at once of what another connection of this process wrote', async () => {
      await using temp = await tempStore({ lock });
      await using second = await connectAgain(temp);
      const waiting = temp.store.waitFor(0, { timeout_ms: LONG_MS });
      await create({ ...temp, store: second }, 'By the other');
      expect(await waiting).toBe(1);
    });
  },
);

const MOVE = { to: 'nowhere', agents: NO_AGENTS, reason: null };

async function connectAgain({ folder, clock }: TempStore) {
  const { openStore } = await import('./open-store.ts');
  return openStore({ folder }, { clock, lock: 'await' });
}

function insertEvent(db: ReturnType<TempStore['connect']>): void {
  db.exec(
    "INSERT INTO events (type, triggered_by, created_at, data) VALUES ('task.updated', 'user:x', '', '{}')",
  );
}
