import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { EVENT_TYPES } from '#contract/event-types.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { type Caller, reaches } from '#access/caller.ts';
import type { EventSource } from '#operations/event-source.ts';
import { AnswerBudget } from './answer-budget.ts';
import { parseCursor, type Position, type Positions } from './event-cursor.ts';
import type { EventFilter } from './event-frame.ts';
import { EventReader } from './event-reader.ts';
import { EventWindow } from './event-window.ts';
import { ReaderTurns } from './reader-turns.ts';

/** So long passes between two looks while events follow one another, so that those of many commits go out together. */
const PAUSE_MS = 50;
const CHECK_MS = 500;
/** Readers that are served before others get their turn. */
const READERS_A_TURN = 200;

export interface EventStreamDeps {
  /** The feeds of all projects that are served now. */
  readonly sources: () => readonly EventSource[];
  /** Whether the token that a stream was opened with is still good. */
  readonly isAlive: (caller: Caller) => boolean;
  /** Told of a store that could not be read. */
  readonly report?: ((error: unknown) => void) | undefined;
  /** Shared with the answers of the same server; one of its own when left out. */
  readonly answers?: AnswerBudget | undefined;
  /** Those of Forge when left out. */
  readonly limits?:
    | { readonly stall_ms: number; readonly heartbeat_ms: number; readonly streams_a_token?: number }
    | undefined;
}

export interface EventStream {
  /**
   * GET /api/v1/events: answers with a stream that ends when the client goes, when its token is revoked, or by
   * `close`. Rejects before anything is sent: invalid_input for a bad position or filter, not_found for a project.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse, caller: Caller) => Promise<void>;
  /** How many are connected, and how many were cut because they did not read. */
  readonly counts: () => { readonly readers: number; readonly cut: number };
  /** Other projects may be served now. */
  readonly look: () => void;
  /** Ends all streams; clients can go on where they were. */
  readonly close: () => void;
}

/** Live events of all projects for any number of readers: the stores are looked at once for all of them. */
export function createEventStream(deps: EventStreamDeps): EventStream {
  const hub = new EventHub(deps);
  return {
    handle: (request, response, caller) => hub.open(request, response, caller),
    counts: () => ({ readers: hub.readers.size, cut: hub.cut }),
    look: () => hub.look(),
    close: () => hub.close(),
  };
}

class EventHub {
  readonly readers = new Set<EventReader>();
  cut = 0;
  readonly answers: AnswerBudget;
  readonly #deps: EventStreamDeps;
  readonly #limits: NonNullable<EventStreamDeps['limits']>;
  readonly #window = new EventWindow();
  /** Readers that need the store; each waits its turn, so that a thousand at once read page by page. */
  readonly #behind = new ReaderTurns<EventReader>();
  #isReadingBehind = false;
  /** Streams by the id of their token. */
  readonly #counts = new Map<string, number>();
  /** Resolves when the window has begun; there as long as somebody follows it. */
  #ready: Promise<void> | undefined;
  #opening = 0;
  /** Ends the wait for the next event. */
  #waiting = new AbortController();
  #check: NodeJS.Timeout | undefined;
  #checks = 0;
  #isClosed = false;

  constructor(deps: EventStreamDeps) {
    this.#deps = deps;
    this.answers = deps.answers ?? new AnswerBudget();
    this.#limits = deps.limits ?? {
      stall_ms: LIMITS.event_stall_ms,
      heartbeat_ms: LIMITS.event_heartbeat_ms,
    };
  }

  async open(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    const reached = this.#deps.sources().filter(({ project }) => reaches(caller, project));
    const wish = parseWish(request, reached, caller.projects);
    this.#checkCount(caller);
    this.#opening += 1;
    try {
      await this.#start();
      const newest = await readPositions(this.#deps.sources());
      if (response.destroyed || this.#isClosed) {
        response.destroy();
        return;
      }
      const positions = toStart(wish.after, newest);
      sendHead(response);
      const { answers } = this;
      const reader = new EventReader(response, caller, { filter: wish.filter, positions, answers });
      reader.onWritable = () => this.#serve(reader);
      this.readers.add(reader);
      this.#count(reader, 1);
      response.once('close', () => this.#forget(reader));
      reader.greet();
      this.#serve(reader);
    } finally {
      this.#opening -= 1;
      if (!this.#isFollowed()) this.look();
    }
  }

  #isFollowed(): boolean {
    return this.readers.size + this.#opening > 0 && !this.#isClosed;
  }

  #checkCount({ token }: Caller): void {
    const most = this.#limits.streams_a_token ?? LIMITS.event_streams_a_token;
    if ((this.#counts.get(token) ?? 0) < most) return;
    throw new ForgeError('too_many_requests', `This token has ${most} streams open already`, {
      hint: 'Close one, or use one stream for all projects and tasks',
      details: { limit: most, retry_after_s: 1 },
    });
  }

  #count({ caller: { token } }: EventReader, by: 1 | -1): void {
    const count = (this.#counts.get(token) ?? 0) + by;
    if (count > 0) this.#counts.set(token, count);
    else this.#counts.delete(token);
  }

  look(): void {
    this.#waiting.abort();
  }

  close(): void {
    this.#isClosed = true;
    this.look();
    for (const reader of this.readers) reader.end();
  }

  /** The first reader starts the looking; it ends after the last one. */
  #start(): Promise<void> {
    this.#ready ??= readPositions(this.#deps.sources()).then(
      (positions) => {
        this.#window.restart(positions);
        this.#check = setInterval(() => this.#checkReaders(), CHECK_MS).unref();
        this.#lookOn().catch((error: unknown) => this.#deps.report?.(error));
      },
      (error: unknown) => {
        this.#ready = undefined;
        throw error;
      },
    );
    return this.#ready;
  }

  async #lookOn(): Promise<void> {
    while (this.#isFollowed()) {
      const before = this.#window.end;
      const pause = sleep(PAUSE_MS, undefined, { ref: false });
      let isMore = false;
      try {
        isMore = await this.#window.advance(this.#deps.sources());
        if (this.#window.end !== before) await this.#serveAll();
        if (!isMore) await this.#awaitNews();
      } catch (error) {
        this.#deps.report?.(error);
      }
      await (isMore ? nextTurn() : pause);
    }
    clearInterval(this.#check);
    this.#ready = undefined;
  }

  /** Until one of the projects has an event that the window lacks, or there is another reason to look. */
  async #awaitNews(): Promise<void> {
    const waiting = (this.#waiting = new AbortController());
    const { signal } = waiting;
    if (!this.#isFollowed()) return;
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    const waits = this.#deps.sources().map(async (source) => {
      const known = this.#window.positions.get(source.project);
      if (known !== undefined) await source.waitFor(known.seq, { signal });
    });
    try {
      await Promise.race([over, ...waits]);
    } finally {
      waiting.abort();
    }
  }

  /** Everybody gets what is new, a few at a time. */
  async #serveAll(): Promise<void> {
    let served = 0;
    for (const reader of this.readers) {
      this.#serve(reader);
      served += 1;
      if (served % READERS_A_TURN === 0) await nextTurn();
    }
  }

  #serve(reader: EventReader): void {
    if (!reader.isOpen || reader.follow(this.#window)) return;
    this.#behind.add(reader);
    if (this.#isReadingBehind) return;
    this.#isReadingBehind = true;
    this.#readBehind()
      .catch((error: unknown) => this.#deps.report?.(error))
      .finally(() => (this.#isReadingBehind = false));
  }

  async #readBehind(): Promise<void> {
    for (let reader = this.#behind.take(); reader !== undefined; reader = this.#behind.take()) {
      const before = reader.positions;
      await this.#readOn(reader);
      // Where the store had nothing for it, the window is about to.
      await (reader.positions === before ? sleep(PAUSE_MS, undefined, { ref: false }) : nextTurn());
      // Comes after the others of its token if it needs another page.
      if (reader.isOpen && !reader.follow(this.#window)) this.#behind.add(reader);
    }
  }

  async #readOn(reader: EventReader): Promise<void> {
    try {
      await reader.readOn(this.#deps.sources(), this.#window);
    } catch (error) {
      // The client comes back to where it was.
      reader.end();
      this.#deps.report?.(error);
    }
  }

  #checkReaders(): void {
    this.#checks += 1;
    const alive = new Map<string, boolean>();
    const isAlive = ({ caller }: EventReader): boolean => {
      const known = alive.get(caller.token) ?? this.#deps.isAlive(caller);
      alive.set(caller.token, known);
      return known;
    };
    const now = performance.now();
    const { stall_ms, heartbeat_ms } = this.#limits;
    const rounds = Math.max(1, Math.round(heartbeat_ms / CHECK_MS));
    let at = 0;
    for (const reader of this.readers) {
      at += 1;
      if (!isAlive(reader)) reader.end();
      else if (reader.hasStalled(now, stall_ms)) {
        this.cut += 1;
        reader.cut();
      } // Spread over the time, so that ten thousand do not come at once.
      else if ((at + this.#checks) % rounds === 0) reader.heartbeat();
    }
  }

  #forget(reader: EventReader): void {
    if (this.readers.delete(reader)) this.#count(reader, -1);
    this.#behind.delete(reader);
    if (!this.#isFollowed()) this.look();
  }
}

/** Without a length and without chunks the body goes on until the connection ends: one write a frame, as it is. */
function sendHead(response: ServerResponse): void {
  response.removeHeader('transfer-encoding');
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'close',
  });
  response.flushHeaders();
}

interface Wish {
  readonly after: Positions | 'begin' | undefined;
  readonly filter: EventFilter;
}

const FIELDS = ['after', 'project', 'task', 'type'];
const MAX_NAMES = 100;

function parseWish(
  request: IncomingMessage,
  sources: readonly EventSource[],
  within: readonly string[] | undefined,
): Wish {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const unknown = [...query.keys()].find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw refuse(unknown, `there is no such field; known are ${FIELDS.join(', ')}`);
  const projects = toNames(query, 'project');
  const tasks = toNames(query, 'task');
  if (tasks !== undefined && tasks.length > 1) throw refuse('task', 'one task at most');
  for (const project of projects ?? []) {
    if (sources.some((source) => source.project === project)) continue;
    throw new ForgeError('not_found', `This server has no project ${JSON.stringify(project.slice(0, 100))}`, {
      hint: 'Filter by the prefix of its ids',
      details: { project },
    });
  }
  const types = toNames(query, 'type');
  const strange = types?.find((type) => !EVENT_TYPES.includes(type));
  if (strange !== undefined)
    throw refuse(
      'type',
      `no event is called ${JSON.stringify(strange)}; there are ${EVENT_TYPES.join(', ')}`,
    );
  if (query.getAll('after').length > 1) throw refuse('after', 'is given more than once');
  // A browser that comes back says where it was in the header, whatever its address still says.
  const header = request.headers['last-event-id'];
  const after = typeof header === 'string' && header !== '' ? header : (query.get('after') ?? '');
  const named = projects ?? within;
  return {
    after: after === '' ? undefined : parseCursor(after),
    filter: {
      projects: named === undefined ? undefined : new Set(named),
      task_id: tasks?.[0]?.toLowerCase(),
      types,
    },
  };
}

function toNames(query: URLSearchParams, field: string): string[] | undefined {
  const names = query.getAll(field).flatMap((value) => value.split(','));
  if (names.length === 0) return undefined;
  if (names.length > MAX_NAMES || names.some((name) => name === '' || name.length > MAX_NAMES))
    throw refuse(field, `one to ${MAX_NAMES} names`);
  return names;
}

function refuse(field: string, message: string): ForgeError {
  const name = field.slice(0, 100);
  return new ForgeError('invalid_input', `${name}: ${message}`, {
    details: { issues: [{ field: name, message }] },
  });
}

async function readPositions(sources: readonly EventSource[]): Promise<Positions> {
  const positions = new Map<string, Position>();
  for (const source of sources) {
    const { epoch, newest } = await source.readFeed();
    positions.set(source.project, { epoch, seq: newest });
  }
  return positions;
}

/** Where a reader begins: at the newest event, unless it says where it was. */
function toStart(after: Wish['after'], newest: Positions): Positions {
  if (after === undefined) return newest;
  const start = new Map<string, Position>();
  for (const [project, { epoch, seq }] of newest) {
    const given = after === 'begin' ? { epoch, seq: 0 } : after.get(project);
    start.set(project, given ?? { epoch, seq });
  }
  return start;
}
