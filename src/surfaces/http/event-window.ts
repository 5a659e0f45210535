import { LIMITS } from '#kernel/limits.ts';
import type { EventSource } from '#operations/event-source.ts';
import { type Positions, withPosition } from './event-cursor.ts';
import { type Frame, toFrame } from './event-frame.ts';

/** Pages that one look may read: more would keep those waiting who have come for something else. */
const PAGES_A_LOOK = 5;
const PAGE_BYTES = 1_048_576;

export interface Chunk {
  readonly bytes: Buffer;
  /** The index of the frame after the last one in it. */
  readonly end: number;
}

/**
 * The newest events of all projects, in one order, for those who keep up. Frames have an index that only rises; older
 * ones are dropped, and whoever still needs them reads the store.
 */
export class EventWindow {
  #frames: Frame[] = [];
  #first = 0;
  #bytes = 0;
  #chunks = new Map<number, Chunk>();
  /** Before the first frame that is held. */
  #start: Positions = new Map();
  #positions: Positions = new Map();

  get first(): number {
    return this.#first;
  }

  get end(): number {
    return this.#first + this.#frames.length;
  }

  /** Where a reader is that has seen everything that was ever held. */
  get positions(): Positions {
    return this.#positions;
  }

  /** Where a reader has to be at least, to need nothing older. */
  get start(): Positions {
    return this.#start;
  }

  /** Forgets everything and begins here. An index is left out, so that nobody takes it for the one before. */
  restart(positions: Positions): void {
    this.#first = this.end + 1;
    this.#frames = [];
    this.#bytes = 0;
    this.#chunks.clear();
    this.#start = positions;
    this.#positions = positions;
  }

  /** Takes in what is new. True when there is more to take at once. */
  async advance(sources: readonly EventSource[]): Promise<boolean> {
    let isMore = false;
    this.#forgetGone(sources);
    for (const source of sources) isMore = (await this.#advanceOne(source)) || isMore;
    this.#trim();
    return isMore;
  }

  frame(index: number): Frame | undefined {
    return this.#frames[index - this.#first];
  }

  /** Where a reader is whose next frame is this one. */
  positionsBefore(index: number): Positions {
    return index === this.#first ? this.#start : (this.frame(index - 1)?.positions ?? this.#positions);
  }

  /** Frames from here on in one piece, for everybody who is at the same place. */
  chunkFrom(index: number): Chunk {
    const known = this.#chunks.get(index);
    if (known !== undefined) return known;
    const parts: Buffer[] = [];
    let size = 0;
    let end = index;
    for (
      let frame = this.frame(end);
      frame !== undefined && size < LIMITS.event_waiting_bytes;
      frame = this.frame(end)
    ) {
      parts.push(frame.bytes);
      size += frame.bytes.length;
      end += 1;
    }
    const [only] = parts;
    const chunk = { bytes: only !== undefined && parts.length === 1 ? only : Buffer.concat(parts), end };
    this.#chunks.set(index, chunk);
    return chunk;
  }

  async #advanceOne(source: EventSource): Promise<boolean> {
    const { project } = source;
    const { epoch, newest } = await source.readFeed();
    const known = this.#positions.get(project);
    if (known === undefined) {
      this.#begin(project, { epoch, seq: newest });
      return false;
    }
    if (known.epoch !== epoch || known.seq > newest) {
      // Whoever followed has to look into the stores now, and learns there what happened.
      this.restart(withPosition(this.#positions, project, { epoch, seq: newest }));
      return false;
    }
    let after = known.seq;
    for (let pages = 0; after < newest && pages < PAGES_A_LOOK; pages += 1) {
      const page = { after, limit: LIMITS.event_page_rows, max_bytes: PAGE_BYTES };
      const { events, upto } = await source.readEvents(page);
      for (const event of events) {
        const positions = withPosition(this.#positions, project, { epoch, seq: event.seq });
        this.#add(toFrame(project, event, positions));
      }
      after = upto;
      this.#positions = withPosition(this.#positions, project, { epoch, seq: upto });
    }
    return after < newest;
  }

  #add(frame: Frame): void {
    this.#frames.push(frame);
    this.#bytes += frame.bytes.length;
    this.#positions = frame.positions;
    // A chunk that ended here may go on now.
    this.#chunks.clear();
  }

  /** A project that came later counts from where it was then. */
  #begin(project: string, position: { epoch: string; seq: number }): void {
    this.#start = withPosition(this.#start, project, position);
    this.#positions = withPosition(this.#positions, project, position);
  }

  #forgetGone(sources: readonly EventSource[]): void {
    for (const project of this.#positions.keys()) {
      if (sources.some((source) => source.project === project)) continue;
      this.#start = without(this.#start, project);
      this.#positions = without(this.#positions, project);
    }
  }

  #trim(): void {
    let drop = 0;
    while (
      this.#frames.length - drop > LIMITS.event_window_rows ||
      (this.#bytes > LIMITS.event_window_bytes && drop < this.#frames.length)
    ) {
      this.#bytes -= this.#frames[drop]?.bytes.length ?? 0;
      drop += 1;
    }
    if (drop === 0) return;
    this.#start = this.#frames[drop - 1]?.positions ?? this.#start;
    this.#frames = this.#frames.slice(drop);
    this.#first += drop;
    this.#chunks.clear();
  }
}

function without(positions: Positions, project: string): Positions {
  const rest = new Map(positions);
  rest.delete(project);
  return rest;
}
