import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findAsked, turnOf, type ScriptName, type Turn } from './trajectory.ts';
import { anthropic } from './wires/anthropic.ts';
import { chat } from './wires/chat.ts';
import { gemini } from './wires/gemini.ts';
import { responses } from './wires/responses.ts';
import type { Json, Said, Wire, WireEvent } from './wires/wire.ts';

/** What came in, for a test to look at. */
export interface ModelCall {
  readonly script: ScriptName;
  readonly folder: string;
  /** All prompts of ours that the request has in it, the earlier ones of a session that was gone on with too. */
  readonly prompts: number;
  readonly at: number;
  readonly tools: readonly string[];
  /** What the last tool said. */
  readonly result: string | undefined;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** Requests to addresses that no model has. */
  readonly strange: readonly string[];
}

const WIRES: readonly Wire[] = [anthropic, responses, chat, gemini];

/**
 * A model on loopback that says what the script in the prompt wants, in the wire format in which it is asked. It has
 * no memory: which turn it is follows from the request alone, so a request that is sent again gets the same answer.
 */
export async function openModelServer(): Promise<ModelServer> {
  const calls: ModelCall[] = [];
  const strange: string[] = [];
  const server = createServer((request, response) => {
    serve(request, response, { calls, strange }).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    strange,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Seen {
  readonly calls: ModelCall[];
  readonly strange: string[];
}

async function serve(request: IncomingMessage, response: ServerResponse, seen: Seen): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?');
  const body = await readJson(request);
  const wire = WIRES.find((one) => one.fits(path));
  if (wire === undefined || request.method !== 'POST') {
    seen.strange.push(`${request.method ?? ''} ${path}`);
    sendJson(response, 404, { error: { message: 'There is no such thing here.' } });
    return;
  }
  const { turn, call, tools } = decideTurn(wire, body);
  if (call !== undefined) seen.calls.push(call);
  if ('refuse' in turn) {
    const until = Math.floor(Date.now() / 1_000) + turn.retry_after;
    const { headers, body: reason } = wire.refuse(until, turn.retry_after);
    response.setHeaders(new Headers({ 'retry-after': String(turn.retry_after), ...headers }));
    sendJson(response, turn.refuse, reason);
    return;
  }
  // Names are used once in a session, also where it has several prompts.
  const at = ((call?.prompts ?? 1) - 1) * 100 + (call?.at ?? 0);
  const events = wire.answer(turn, { folder: call?.folder ?? '', at, tools });
  if (path.endsWith(':generateContent')) {
    sendJson(response, 200, events[0]?.data as Json);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(events.map(toFrame).join(''));
  if (!('hang' in turn)) response.end();
}

interface Decided {
  readonly turn: Turn;
  readonly call: ModelCall | undefined;
  readonly tools: readonly string[];
}

/** The last prompt of ours names the script; the results of tools since then say how far it is. */
export function decideTurn(wire: Wire, body: Json): Decided {
  const { main, said, tools } = wire.read(body);
  const prompts = said.flatMap((one, index) => (asksIn(one) === undefined ? [] : [index]));
  const last = prompts.at(-1);
  const asked = last === undefined ? undefined : asksIn(said[last]);
  if (!main || asked === undefined || last === undefined)
    return { turn: { say: 'A script' }, call: undefined, tools };
  const results = said.slice(last).flatMap((one) => ('result' in one ? [one.result] : []));
  const at = results.length;
  const call = { ...asked, prompts: prompts.length, at, tools, result: results.at(-1) };
  return { turn: turnOf(asked.script, at), call, tools };
}

function asksIn(said: Said | undefined) {
  return said !== undefined && 'user' in said ? findAsked(said.user) : undefined;
}

function toFrame({ event, data }: WireEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json;
  } catch {
    return {};
  }
}
