import { setImmediate as nextTurn } from 'node:timers/promises';
import type { listEvents as declaration } from '#contract/event-operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import type { EventStore, StoredEvent } from '#store/event-store.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';
import { tooLarge } from './write-answer.ts';

const DEFAULT_LIMIT = 20;
/** Behind the first look the newest events are looked for in steps of this many numbers: a filter leaves most of them out. */
const STEP = 5_000;

export const eventList = implement<typeof declaration>({
  async run(ctx, { after, task, type, limit = DEFAULT_LIMIT }) {
    const { store } = ctx.project;
    const task_id = task === undefined ? undefined : (await store.findTask(task)).id;
    const filter = { types: type, task_id };
    const events =
      after === undefined
        ? await readNewest(store, filter, limit)
        : [...(await tellForgotten(store, after)), ...(await readBehind(store, filter, { after, limit }))];
    return events.map((event) => ({ ...event, data: readJson(event.data) as unknown }));
  },
  text(events, view) {
    if (events.length === 0) return 'No events.';
    return tableText(
      view,
      [
        { header: 'SEQ', value: ({ seq }) => String(seq), align: 'right' },
        { header: 'AT', value: ({ created_at }) => created_at },
        { header: 'EVENT', value: ({ type }) => type },
        { header: 'TASK', value: ({ task_id }) => task_id ?? '' },
        { header: 'BY', value: ({ triggered_by }) => triggered_by, flexible: true, minimum: 12 },
      ],
      events,
    );
  },
});

interface Filter {
  readonly types: readonly string[] | undefined;
  readonly task_id: string | undefined;
}

/** What a stream says too: a reader that stood further back than the feed reaches has to read the tasks again. */
async function tellForgotten(store: EventStore, after: number): Promise<StoredEvent[]> {
  const { oldest } = await store.readFeed();
  if (after === 0 || after + 1 >= oldest) return [];
  const first = (await store.readEvents({ after: oldest - 1, limit: 1 })).events[0];
  const data = JSON.stringify({ changed: ['tasks'], reset: true });
  const { seq, created_at } = { seq: oldest - 1, created_at: first?.created_at ?? '' };
  return [{ seq, type: 'project.changed', task_id: null, triggered_by: 'system:feed', created_at, data }];
}

async function readBehind(
  store: EventStore,
  filter: Filter,
  { after, limit, upto = Infinity }: { after: number; limit: number; upto?: number },
): Promise<StoredEvent[]> {
  const { oldest } = await store.readFeed();
  const found: StoredEvent[] = [];
  for (let position = Math.max(after, oldest - 1); found.length < limit;) {
    const page = await store.readEvents({
      ...filter,
      after: position,
      limit: limit - found.length,
      max_bytes: LIMITS.answer_page_bytes,
    });
    found.push(...page.events.filter(({ seq }) => seq <= upto));
    checkSize(found);
    if (page.upto >= Math.min(page.newest, upto) || page.upto <= position) break;
    position = page.upto;
    await nextTurn();
  }
  return found;
}

async function readNewest(store: EventStore, filter: Filter, limit: number): Promise<StoredEvent[]> {
  const { oldest, newest } = await store.readFeed();
  let found: StoredEvent[] = [];
  let step = limit;
  for (let end = newest; end >= oldest && found.length < limit;) {
    const start = Math.max(oldest - 1, end - step);
    found = [...(await readBehind(store, filter, { after: start, limit: step, upto: end })), ...found];
    checkSize(found);
    end = start;
    step = Math.max(step, STEP);
  }
  return found.slice(-limit);
}

function checkSize(events: readonly StoredEvent[]): void {
  const bytes = events.reduce((sum, { data }) => sum + data.length, 0);
  if (bytes > LIMITS.event_list_bytes) throw tooLarge(LIMITS.event_list_bytes);
}
