import { setMaxListeners } from 'node:events';
import { utf8Length } from '#kernel/text.ts';
import type { EventQuery, EventStore, StoredEvent } from '../event-store.ts';
import type { MemoryTables } from './memory-tables.ts';
import { newestEvent } from './memory-transaction.ts';

/** `closed` is aborted when the store is closed. */
export function memoryEvents(tables: MemoryTables, closed: AbortSignal): EventStore {
  return {
    waitFor: (after, { signal, timeout_ms } = {}) =>
      new Promise((resolve) => {
        const over = [closed, ...(signal === undefined ? [] : [signal])];
        setMaxListeners(0, ...over);
        const end = (): void => {
          stop();
          clearTimeout(timer);
          for (const one of over) one.removeEventListener('abort', end);
          resolve(newestEvent(tables));
        };
        const look = (): void => {
          if (newestEvent(tables) !== after || over.some(({ aborted }) => aborted)) end();
        };
        const timer = timeout_ms === undefined ? undefined : setTimeout(end, timeout_ms);
        const stop = tables.journal.listen(look);
        for (const one of over) one.addEventListener('abort', end);
        look();
      }),
    newestEvent: async () => newestEvent(tables),
    readFeed: async () => ({
      epoch: tables.made_at.toString(36),
      oldest: listEvents(tables)[0]?.seq ?? 1,
      newest: newestEvent(tables),
    }),
    async readEvents(query) {
      const newest = newestEvent(tables);
      const found = listEvents(tables).filter((event) => isAsked(event, query));
      const events = found.slice(0, Math.min(query.limit, countWithin(found, query.max_bytes)));
      const isAll = events.length === found.length && events.length < query.limit;
      return {
        events,
        upto: isAll ? Math.max(newest, query.after) : (events.at(-1)?.seq ?? query.after),
        newest,
      };
    },
  };
}

/** In the order of their numbers. */
export function listEvents({ events }: MemoryTables): StoredEvent[] {
  return events.list().sort((a, b) => a.seq - b.seq);
}

function isAsked({ seq, type, task_id }: StoredEvent, { after, types, task_id: of }: EventQuery): boolean {
  return seq > after && (types?.includes(type) ?? true) && (of === undefined || task_id === of);
}

/** How many of the first stay within a size, but one at least. */
function countWithin(events: readonly StoredEvent[], bytes = Infinity): number {
  let sum = 0;
  const over = events.findIndex(({ data }) => (sum += utf8Length(data)) > bytes);
  return over === -1 ? Infinity : Math.max(1, over);
}
