import type { EventStore } from '#store/event-store.ts';

/** One project's feed of events, for surfaces that stream it. */
export interface EventSource extends EventStore {
  /** The prefix of the project's ids. */
  readonly project: string;
}

export type EventOfSource = Awaited<ReturnType<EventSource['readEvents']>>['events'][number];
