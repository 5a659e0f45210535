import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '#kernel/limits.ts';
import type { Caller } from '#access/caller.ts';
import type { EventSource } from '#operations/event-source.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { further, type Positions, reaches, toCursor, withPosition } from './event-cursor.ts';
import { type EventFilter, isEverything, toFrame, toResetFrame, wants } from './event-frame.ts';
import type { EventWindow } from './event-window.ts';

const HEARTBEAT = Buffer.from(': still here\n\n');

/** One response that events are written to, no faster than they are read. */
export class EventReader {
  readonly caller: Caller;
  readonly #response: ServerResponse;
  readonly #filter: EventFilter;
  readonly #answers: AnswerBudget;
  /** The next frame of the window; undefined while it reads from the store. */
  #index: number | undefined;
  #positions: Positions;
  /** What came from the store is further than the window: its frames up to here were seen. */
  #seen: Positions | undefined;
  #isBlocked = false;
  #isReading = false;
  #accepted = 0;
  #stalledSince: number | undefined;

  constructor(
    response: ServerResponse,
    caller: Caller,
    start: { readonly filter: EventFilter; readonly positions: Positions; readonly answers: AnswerBudget },
  ) {
    this.#response = response;
    this.caller = caller;
    this.#filter = start.filter;
    this.#positions = start.positions;
    this.#answers = start.answers;
  }

  /** Tells the client where it begins, so that it can come back even if nothing ever happens. */
  greet(): void {
    this.#response.write(`retry: 1000\nid: ${toCursor(this.#positions)}\n\n`);
  }

  /** Another object whenever it has come further. */
  get positions(): Positions {
    return this.#positions;
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** Sends what there is. False where the store has to be read: `readOn` does. */
  follow(window: EventWindow): boolean {
    if (this.#isReading) return true;
    if (this.#index === undefined && !this.#join(window)) return this.#isBlocked;
    while (!this.#isBlocked && this.isOpen && this.#index !== undefined && this.#index < window.end) {
      if (this.#index < window.first) {
        this.#leave();
        return false;
      }
      if (this.#seen === undefined && isEverything(this.#filter)) this.#sendChunk(window, this.#index);
      else this.#sendFrame(window, this.#index);
    }
    if (this.#seen !== undefined && reaches(window.positions, this.#seen)) this.#seen = undefined;
    return true;
  }

  /** One page from each project's store, for a reader that is further back than the window. */
  async readOn(sources: readonly EventSource[], window: EventWindow): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (const source of sources) {
        if (this.#isBlocked || !this.isOpen) return;
        await this.#readPage(source, window);
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Called when the client has read what waited. */
  onWritable: () => void = () => undefined;

  heartbeat(): void {
    if (!this.#isBlocked && this.isOpen) this.#write(HEARTBEAT);
  }

  /** True for a client that has taken nothing for too long while something waits for it. */
  hasStalled(now: number, stall_ms: number): boolean {
    if (!this.#isBlocked) {
      this.#stalledSince = undefined;
      return false;
    }
    const accepted = countAccepted(this.#response.socket);
    if (accepted !== this.#accepted || this.#stalledSince === undefined) {
      this.#accepted = accepted;
      this.#stalledSince = now;
    }
    return now - this.#stalledSince >= stall_ms;
  }

  end(): void {
    this.#response.end();
    // What waits for somebody who does not read would keep the connection.
    if (this.#isBlocked) this.cut();
  }

  cut(): void {
    this.#response.destroy();
  }

  /** Goes over to the window once nothing older is needed. */
  #join(window: EventWindow): boolean {
    this.#positions = addMissing(this.#positions, window.start);
    if (!reaches(this.#positions, window.start)) return false;
    this.#index = window.first;
    this.#seen = this.#positions;
    return true;
  }

  #leave(): void {
    this.#positions = further(this.#positions, this.#seen);
    this.#index = undefined;
    this.#seen = undefined;
  }

  #sendChunk(window: EventWindow, index: number): void {
    const { bytes, end } = window.chunkFrom(index);
    this.#write(bytes);
    this.#moveTo(window, end);
  }

  #sendFrame(window: EventWindow, index: number): void {
    const frame = window.frame(index);
    if (frame !== undefined && wants(this.#filter, frame) && !this.#hasSeen(frame)) this.#write(frame.bytes);
    this.#moveTo(window, index + 1);
  }

  #moveTo(window: EventWindow, index: number): void {
    this.#index = index;
    this.#positions = window.positionsBefore(index);
  }

  #hasSeen(frame: { project: string; seq: number; positions: Positions }): boolean {
    const seen = this.#seen?.get(frame.project);
    return (
      seen !== undefined && seen.epoch === frame.positions.get(frame.project)?.epoch && frame.seq <= seen.seq
    );
  }

  async #readPage(source: EventSource, window: EventWindow): Promise<void> {
    const { project } = source;
    const { projects, task_id, types } = this.#filter;
    const own = this.#positions.get(project);
    const { epoch, oldest, newest } = await source.readFeed();
    if (own === undefined) return;
    // 0 asks for all that is kept; a reader that was somewhere else has missed what was forgotten.
    const hasMissed = own.seq > 0 && own.seq + 1 < oldest;
    if (own.epoch !== epoch || own.seq > newest || hasMissed) {
      this.#positions = withPosition(this.#positions, project, { epoch, seq: newest });
      if (projects === undefined || projects.has(project))
        this.#write(toResetFrame(project, this.#positions).bytes);
      return;
    }
    if (own.seq >= (window.start.get(project)?.seq ?? newest)) return;
    if (projects !== undefined && !projects.has(project)) {
      this.#positions = withPosition(this.#positions, project, { epoch, seq: newest });
      return;
    }
    if (!this.#answers.hasRoom(this.caller.token, LIMITS.event_waiting_bytes)) {
      // Other streams of the token leave too much unread; the client can come back to where it was.
      this.end();
      return;
    }
    const page = await source.readEvents({
      after: own.seq,
      limit: LIMITS.event_page_rows,
      max_bytes: LIMITS.event_waiting_bytes,
      types,
      task_id,
    });
    const frames = page.events.map((event) => {
      this.#positions = withPosition(this.#positions, project, { epoch, seq: event.seq });
      return toFrame(project, event, this.#positions).bytes;
    });
    this.#positions = withPosition(this.#positions, project, { epoch, seq: page.upto });
    if (frames.length === 0) return;
    const bytes = Buffer.concat(frames);
    this.#write(bytes);
    if (this.#isBlocked) this.#count(bytes.length);
  }

  /** A page from the store is this reader's alone; chunks of the window are shared by all who have not taken them. */
  #count(bytes: number): void {
    const kept = this.#answers.keep(this.caller.token, bytes);
    const giveBack = (): void => {
      this.#response.off('drain', giveBack);
      this.#response.off('close', giveBack);
      kept[Symbol.dispose]();
    };
    this.#response.once('drain', giveBack);
    this.#response.once('close', giveBack);
  }

  #write(bytes: Buffer): void {
    if (this.#response.write(bytes)) return;
    this.#isBlocked = true;
    this.#response.once('drain', () => {
      this.#isBlocked = false;
      this.#stalledSince = undefined;
      this.onWritable();
    });
  }
}

/** A project that the client has never heard of counts from where the window begins. */
function addMissing(positions: Positions, start: Positions): Positions {
  const missing = [...start].filter(([project]) => !positions.has(project));
  return missing.length === 0 ? positions : new Map([...positions, ...missing]);
}

function countAccepted(socket: Socket | null): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
