import type { listEvents as declaration } from '#contract/event-operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import type { EventStore, StoredEvent } from '#store/event-store.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';
import { tooLarge } from './write-answer.ts';

const DEFAULT_LIMIT = 20;
/** Behind the first look the newest events are looked for in steps of this many numbers: a filter leaves most of them out. */
const STEP = 1_000;

export const eventList = implement<typeof declaration>({
  async run(ctx, { after, task, type, limit = DEFAULT_LIMIT }) {
    const { store } = ctx.project;
    const task_id = task === undefined ? undefined : (await store.findTask(task)).id;
    const filter = { types: type, task_id };
    const events =
      after === undefined
        ? await readNewest(store, filter, limit)
        : await readBehind(store, filter, { after, limit });
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

async function readBehind(
  store: EventStore,
  filter: Filter,
  { after, limit }: { after: number; limit: number },
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let position = after; found.length < limit;) {
    const page = await store.readEvents({
      ...filter,
      after: position,
      limit: limit - found.length,
      max_bytes: LIMITS.answer_page_bytes,
    });
    found.push(...page.events);
    checkSize(found);
    if (page.upto >= page.newest || page.upto <= position) break;
    position = page.upto;
  }
  return found;
}

async function readNewest(store: EventStore, filter: Filter, limit: number): Promise<StoredEvent[]> {
  let found: StoredEvent[] = [];
  let step = limit;
  for (let end = await store.newestEvent(); end > 0 && found.length < limit;) {
    const start = Math.max(0, end - step);
    const page = await readBehind(store, filter, { after: start, limit: step });
    found = [...page.filter(({ seq }) => seq <= end), ...found];
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
