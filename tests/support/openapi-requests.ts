import { Agent, request as httpRequest } from 'node:http';
import type { HttpAsk } from './http-server.ts';
import { seededRandom } from './random.ts';

/** Requests made up from an OpenAPI document: most nearly right, many wrong in one place, some nonsense. */

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedRequest>>>>;
}

interface DescribedRequest {
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly additionalProperties?: unknown;
}

/** A number from 0 to below 1, the same ones for the same seed. */
export type Dice = () => number;

export function toDice(seed: number): Dice {
  const random = seededRandom(seed);
  return () => random.below(2 ** 30) / 2 ** 30;
}

export interface MadeRequest extends HttpAsk {
  /** `POST /api/v1/tasks` */
  readonly route: string;
}

export interface KnownIds {
  readonly tasks: readonly string[];
  readonly projects: readonly string[];
}

export function makeRequest(document: OpenApiDocument, dice: Dice, known: KnownIds): MadeRequest {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  );
  const { path, method, described } = pick(routes, dice);
  const place = { dice, known };
  const wrongMethod = dice() < 0.02;
  const query = new URLSearchParams();
  for (const { name, in: where, required, schema } of described.parameters) {
    if (where !== 'query' || (!required && name !== 'timeout_seconds' && dice() < 0.6)) continue;
    const value = makeValue(schema, name, place);
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, toText(one));
  }
  if (dice() < 0.05) query.append(pick(NASTY, dice), pick(NASTY, dice));
  const target = path.replaceAll(/\{([^}]+)\}/g, (_found, name: string) => {
    const schema = described.parameters.find((one) => one.name === name)?.schema ?? {};
    return encodeURIComponent(toText(makeValue(schema, name, place)).toWellFormed()) || 'x';
  });
  const schema = described.requestBody?.content['application/json']?.schema;
  const body = method === 'GET' || dice() < 0.03 ? undefined : makeBody(schema, place);
  return {
    route: `${method} ${path}`,
    method: wrongMethod ? pick(['PUT', 'PATCH', 'DELETE', 'POST', 'GET'], dice) : method,
    path: `${target}${query.size === 0 ? '' : `?${query.toString()}`}`.slice(0, 8_000),
    ...(body !== undefined && { body }),
    headers: dice() < 0.1 ? { 'idempotency-key': `k${Math.floor(dice() * 50)}` } : {},
  };
}

interface Place {
  readonly dice: Dice;
  readonly known: KnownIds;
}

const NASTY = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'null',
  'none',
  '-1',
  '0',
  '1e400',
  '9007199254740993',
  '../../etc/passwd',
  "' OR 1=1 --",
  '%',
  '\u0000',
  '\u202e',
  '😀'.repeat(30),
  'x'.repeat(600),
  '{}',
  'true',
];

function makeBody(schema: Schema | undefined, place: Place): unknown {
  const { dice } = place;
  const roll = dice();
  if (roll < 0.02) return pick(['{', '[]', 'null', '"x"', '{"a":', '\u0000', '{"a":1e999}'], dice);
  if (roll < 0.04) return `{"x":${'['.repeat(200)}${']'.repeat(200)}}`;
  const body = { ...(makeValue(schema ?? { type: 'object' }, '', place) as object) };
  return roll < 0.1 ? { ...body, [pick(NASTY, dice)]: pick(NASTY, dice) } : body;
}

function makeValue(schema: Schema, name: string, place: Place): unknown {
  const { dice, known } = place;
  // Nobody has the time to wait for what does not come.
  if (name === 'timeout_seconds') return 0;
  if (dice() < 0.08) return pick(NASTY, dice);
  if (/(^|_)id$|^depends_on/.test(name) && schema.type === 'string' && dice() < 0.8)
    return pick(known.tasks, dice) ?? 'fg-none';
  if (name === 'project' && dice() < 0.9) return pick(known.projects, dice);
  if (schema.anyOf !== undefined) return makeValue(pick(schema.anyOf, dice), name, place);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(schema.enum, dice);
  switch (schema.type) {
    case 'integer':
    case 'number': {
      const low = Math.max(schema.minimum ?? -5, -5);
      const high = Math.min(schema.maximum ?? 50, 50);
      return dice() < 0.1
        ? pick([-1, 1.5, 2 ** 53, high + 1], dice)
        : low + Math.floor(dice() * (high - low + 1));
    }
    case 'boolean':
      return dice() < 0.5;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.floor(dice() * 3) }, () => makeValue(schema.items ?? {}, name, place));
    case 'object':
      return makeObject(schema, place);
    case 'string':
    case undefined:
    default:
      return pick(
        ['worker-1', 'a title', 'todo', 'in_progress', 'review', 'duplicate', 'x', 'fg-none'],
        dice,
      );
  }
}

function makeObject(schema: Schema, place: Place): object {
  const { dice } = place;
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => {
    const needed = schema.required?.includes(name) === true;
    return dice() < (needed ? 0.97 : 0.3) ? [[name, makeValue(one, name, place)] as const] : [];
  });
  const free = schema.properties === undefined && dice() < 0.5 ? [['key', pick(NASTY, dice)] as const] : [];
  return Object.fromEntries([...entries, ...free]);
}

function toText(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[Math.floor(dice() * list.length)] as T; // the lists here are not empty
}

/** Sends what was made over connections that stay open; status and body. */
export function createSender(
  port: number,
  token: string,
): Disposable & {
  send(made: MadeRequest): Promise<{ status: number; text: string }>;
} {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    [Symbol.dispose]: () => agent.destroy(),
    send: ({ method = 'GET', path, body, headers = {} }) =>
      new Promise((resolve, reject) => {
        const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
        const request = httpRequest(
          {
            host: '127.0.0.1',
            port,
            method,
            path,
            agent,
            headers: {
              ...(headers as Record<string, string>), // one value each
              authorization: `Bearer ${token}`,
              'content-type': 'application/json',
              ...(text !== undefined && { 'content-length': String(Buffer.byteLength(text)) }),
            },
          },
          (response) => {
            const parts: Buffer[] = [];
            response.on('data', (part: Buffer) => parts.push(part));
            response.on('error', reject);
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
            );
          },
        );
        request.on('error', reject);
        // Told with what was asked, instead of a test that never ends.
        request.setTimeout(NO_ANSWER_MS, () => request.destroy(new Error(`no answer in ${NO_ANSWER_MS} ms`)));
        request.end(text);
      }),
  };
}

const NO_ANSWER_MS = 30_000;

/** What nobody may ever get: a failure of the server itself. `not_available` is an answer, not a failure. */
export function isServerFault({ status, text }: { status: number; text: string }): boolean {
  return status === 0 || (status >= 500 && !(status === 501 && text.includes('"code":"not_available"')));
}

/** Sends `count` requests, some at a time, and gives those that the server failed at, and how often each status came. */
export async function sendMany(
  {
    port,
    token,
    document,
    dice,
    projects,
  }: {
    readonly port: number;
    readonly token: string;
    readonly document: OpenApiDocument;
    readonly dice: Dice;
    readonly projects: readonly string[];
  },
  count: number,
  at: { readonly once?: number; readonly look?: () => void } = {},
): Promise<{
  faults: { made: MadeRequest; status: number; text: string }[];
  statuses: Record<number, number>;
  routes: number;
}> {
  using sender = createSender(port, token);
  const tasks: string[] = ['fg-none'];
  const faults: { made: MadeRequest; status: number; text: string }[] = [];
  const statuses: Record<number, number> = {};
  const routes = new Set<string>();
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent < count) {
      sent += 1;
      if (at.once !== undefined && sent % at.once === 0) at.look?.();
      const made = makeRequest(document, dice, { tasks, projects });
      routes.add(made.route);
      const answer = await sender.send(made).catch((error: unknown) => ({ status: 0, text: String(error) }));
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (isServerFault(answer)) faults.push({ made, ...answer });
      const id = answer.status < 300 ? /"id":"(fg-[a-z0-9]+)"/.exec(answer.text)?.[1] : undefined;
      if (id !== undefined) tasks[tasks.length < 50 ? tasks.length : Math.floor(dice() * 50)] = id;
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return { faults, statuses, routes: routes.size };
}
