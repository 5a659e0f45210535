import { request, type IncomingMessage } from 'node:http';

export interface SeenEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A client of the event stream over a real socket. */
export interface EventClient extends Disposable {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: readonly SeenEvent[];
  /** The id that a browser would give back: of the last event, or of the greeting. */
  readonly last_id: string;
  readonly comments: number;
  /** Resolves when so many events were seen, or when the stream has ended. */
  until(count: number): Promise<readonly SeenEvent[]>;
  readonly ended: Promise<void>;
}

export async function followEvents(
  url: string,
  { token, lastId }: { token?: string; lastId?: string } = {},
): Promise<EventClient> {
  const headers = {
    accept: 'text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { headers, agent: false }, resolve).on('error', reject).end();
  });
  const events: SeenEvent[] = [];
  let lastSeen = '';
  let comments = 0;
  let text = '';
  let isOver = false;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of waiting) look();
  };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = parseBlock(text.slice(0, end));
      text = text.slice(end + 2);
      if (fields.comment) comments += 1;
      lastSeen = fields.id ?? lastSeen;
      if (fields.data !== undefined)
        events.push({
          id: lastSeen,
          event: fields.event ?? 'message',
          data: JSON.parse(fields.data) as Record<string, unknown>,
        });
    }
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    response.once('close', () => {
      isOver = true;
      resolve();
      wake();
    });
  });
  response.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    get last_id() {
      return lastSeen;
    },
    get comments() {
      return comments;
    },
    ended,
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (events.length < count && !isOver) return;
          waiting.delete(look);
          resolve(events);
        };
        waiting.add(look);
        look();
      }),
    [Symbol.dispose]: () => response.destroy(),
  };
}

function parseBlock(block: string): { id?: string; event?: string; data?: string; comment: boolean } {
  const fields: Record<string, string> = {};
  let comment = false;
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at === 0) comment = true;
    else fields[line.slice(0, at)] = line.slice(at + 1).trimStart();
  }
  return { ...fields, comment };
}
