import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { toErrorBody } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Caller } from '#access/caller.ts';
import { followEvents } from '../../../tests/support/event-client.ts';
import { tempStore, type TempStore } from '../../../tests/support/temp-store.ts';
import { AnswerBudget } from './answer-budget.ts';
import { createEventStream, type EventStreamDeps } from './event-stream.ts';
import { rawSocket } from '../../../tests/support/raw-socket.ts';

const by = { actor: { kind: 'agent', name: 'worker-1', named: true }, now: 1_790_000_000_000 } as const;
const CALLER: Caller = { actor: by.actor, scope: 'read', token: 'token-1' };

describe('the stream of events', () => {
  test('[S161] sends each change with the new row, from when the reader came', async () => {
    await using served = await serve();
    await served.create('before');
    using client = await followEvents(served.url);
    expect([client.status, client.headers['content-type']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    const id = await served.create('after');
    const [seen] = await client.until(1);
    expect(seen).toMatchObject({
      event: 'task.created',
      data: {
        project: 'fg',
        seq: 2,
        type: 'task.created',
        task_id: id,
        triggered_by: 'agent:worker-1',
        data: { task: { id, title: 'after', version: 1 } },
      },
    });
    expect(client.events).toHaveLength(1);
  });

  test('goes on after the last event without a gap or a duplicate', async () => {
    await using served = await serve();
    using first = await followEvents(served.url);
    for (let at = 1; at <= 5; at += 1) await served.create(`task ${at}`);
    const seen = (await first.until(5)).slice(0, 3);
    first[Symbol.dispose]();
    await served.create('while away');
    using second = await followEvents(served.url, { lastId: seen.at(-1)?.id ?? '' });
    await served.create('after it came back');
    expect(numbers(await second.until(4))).toEqual([4, 5, 6, 7]);
    using third = await followEvents(`${served.url}?after=${encodeURIComponent(seen.at(-1)?.id ?? '')}`);
    expect(numbers(await third.until(4))).toEqual([4, 5, 6, 7]);
  });

  test('serves a token that reads history beside the many streams of another every second time', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    let reads = 0;
    const onRead = async (): Promise<void> => {
      await gate;
      reads += 1;
    };
    await using served = await serve({ onRead });
    const pages = 4;
    const events = LIMITS.event_page_rows * pages;
    served.fill(events);
    const from = `${served.url}?after=0`;
    const greedy = await Promise.all(
      Array.from({ length: 40 }, () => followEvents(from, { token: 'token-greedy' })),
    );
    using other = await followEvents(from, { token: 'token-other' });
    openGate();
    await other.until(events);
    // By streams it would be after 40 reads of the greedy token for each of its own.
    expect(reads).toBeLessThan(pages * 20);
    for (const one of greedy) one[Symbol.dispose]();
  });

  test('[M8] a token that has all its streams leaves those of others alone', async () => {
    await using served = await serve({
      limits: { stall_ms: 10_000, heartbeat_ms: 10_000, streams_a_token: 3 },
    });
    const greedy = { token: 'token-greedy' };
    const open = await Promise.all([1, 2, 3].map(() => followEvents(served.url, greedy)));
    using refused = await followEvents(served.url, greedy);
    expect(refused.headers['content-type']).not.toBe('text/event-stream; charset=utf-8');
    using other = await followEvents(served.url, { token: 'token-other' });
    await served.create('for all');
    expect(await other.until(1)).toHaveLength(1);
    open[0]?.[Symbol.dispose]();
    await until(() => served.stream.counts().readers === 3);
    using again = await followEvents(served.url, greedy);
    expect(again.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    for (const one of open) one[Symbol.dispose]();
  });

  test('[M6] a reader that was further back than what is kept is told to begin anew', async () => {
    await using served = await serve();
    for (let at = 1; at <= 5; at += 1) await served.create(`task ${at}`);
    using first = await followEvents(`${served.url}?after=0`);
    const seen = await first.until(2);
    first[Symbol.dispose]();
    await served.temp.store.pruneEvents(by.now + 1);
    using second = await followEvents(served.url, { lastId: seen[1]?.id ?? '' });
    const [reset] = await second.until(1);
    expect(reset).toMatchObject({ event: 'project.changed', data: { data: { reset: true } } });
    using all = await followEvents(`${served.url}?after=0`);
    expect(numbers(await all.until(1))).toEqual([5]);
  });

  test('a reader that saw nothing yet can come back too', async () => {
    await using served = await serve();
    await served.create('before');
    using first = await followEvents(served.url);
    await until(() => first.last_id !== '');
    first[Symbol.dispose]();
    await served.create('while away');
    using second = await followEvents(served.url, { lastId: first.last_id });
    expect(numbers(await second.until(1))).toEqual([2]);
  });

  test('gives everything from 0 on, in pages', async () => {
    await using served = await serve();
    served.fill(3_000);
    using client = await followEvents(`${served.url}?after=0`);
    await served.create('the last one');
    expect(numbers(await client.until(3_001))).toEqual(Array.from({ length: 3_001 }, (_, at) => at + 1));
  });

  test('filters by task, type and project, while following and when catching up', async () => {
    await using served = await serve();
    using byType = await followEvents(`${served.url}?type=task.claimed,task.released`);
    const [a, b] = [await served.create('a'), await served.create('b')];
    using byTask = await followEvents(`${served.url}?task=${a}`);
    await served.temp.store.claimTask({ id: a, assignee: 'worker-1', force: false, agents: new Map() }, by);
    await served.temp.store.claimTask({ id: b, assignee: 'worker-1', force: false, agents: new Map() }, by);
    expect(numbers(await byType.until(2))).toEqual([3, 5]);
    expect(numbers(await byTask.until(2))).toEqual([3, 4]);
    using again = await followEvents(`${served.url}?after=0&task=${b}&project=fg`);
    expect(numbers(await again.until(3))).toEqual([2, 5, 6]);
  });

  test.each([
    ['after=nonsense', 'invalid_input'],
    ['after=fg.x', 'invalid_input'],
    [`after=${'fg.a.1,'.repeat(2000)}`, 'invalid_input'],
    ['after=fg.a.1,fg.a.2', 'invalid_input'],
    ['project=zz', 'not_found'],
    ['task=a&task=b', 'invalid_input'],
    ['type=', 'invalid_input'],
    // [L9]
    ['type=task.nope', 'invalid_input'],
    ['type=task.created,task.nope', 'invalid_input'],
    ['after=0&after=1', 'invalid_input'],
    ['token=secret', 'invalid_input'],
  ])('refuses ?%s with %s', async (query, code) => {
    await using served = await serve();
    const answer = await fetch(`${served.url}?${query}`);
    expect(await answer.json()).toMatchObject({ code });
  });

  test('several projects share a stream, and one cursor stands for all of them', async () => {
    await using other = await tempStore();
    await using served = await serve({ other });
    using client = await followEvents(served.url);
    await until(() => client.last_id !== '');
    await served.create('here');
    await client.until(1);
    await createIn(other, 'there', 'pb');
    const seen = await client.until(2);
    expect(seen.map(({ data }) => [data['project'], data['seq']])).toEqual([
      ['fg', 1],
      ['pb', 1],
    ]);
    client[Symbol.dispose]();
    await createIn(other, 'there again', 'pb');
    await served.create('here again');
    using again = await followEvents(served.url, { lastId: seen[1]?.id ?? '' });
    const more = await again.until(2);
    expect(more.map(({ data }) => `${String(data['project'])} ${String(data['seq'])}`).toSorted()).toEqual([
      'fg 2',
      'pb 2',
    ]);
    using only = await followEvents(`${served.url}?project=pb&after=0`);
    expect(numbers(await only.until(2))).toEqual([1, 2]);
  });

  test('tells of a feed that began anew instead of leaving a gap', async () => {
    await using served = await serve();
    await served.create('before');
    using client = await followEvents(`${served.url}?after=0`);
    const lastId = (await client.until(1))[0]?.id ?? '';
    client[Symbol.dispose]();
    using stays = await followEvents(served.url);
    await until(() => stays.last_id !== '');
    served.temp.clock.advance(60_000);
    await served.temp.rebuild();
    const [reset] = await stays.until(1);
    expect(reset).toMatchObject({ event: 'project.changed', data: { data: { reset: true } } });
    using back = await followEvents(served.url, { lastId });
    expect((await back.until(1))[0]).toMatchObject({
      event: 'project.changed',
      data: { data: { reset: true } },
    });
    await served.create('after');
    const last = await back.until(2);
    expect(last[1]).toMatchObject({ event: 'task.created' });
  });

  test('ends the streams of a token that was revoked, and of no other', async () => {
    const dead = new Set<string>();
    await using served = await serve({ isAlive: ({ token }) => !dead.has(token) });
    using mine = await followEvents(`${served.url}`, { token: 'token-1' });
    using others = await followEvents(`${served.url}`, { token: 'token-2' });
    dead.add('token-1');
    await mine.ended;
    const id = await served.create('still told');
    expect((await others.until(1))[0]?.data['task_id']).toBe(id);
  });

  test('sends a heartbeat when nothing happens', async () => {
    await using served = await serve({ limits: { stall_ms: 10_000, heartbeat_ms: 500 } });
    using client = await followEvents(served.url);
    await until(() => client.comments >= 2);
    expect(client.events).toEqual([]);
  });

  test('cuts a reader that does not read, which can go on where it was; others miss nothing', async () => {
    await using served = await serve({ limits: { stall_ms: 700, heartbeat_ms: 15_000 } });
    const { port } = new URL(served.url);
    using quick = await followEvents(served.url);
    await until(() => quick.last_id !== '');
    const start = quick.last_id;
    const deaf = rawSocket(port);
    deaf.pause();
    deaf.on('error', () => undefined);
    deaf.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => served.stream.counts().readers === 2);
    const total = 3_000;
    served.fill(total, 5_000);
    expect(numbers(await quick.until(total))).toEqual(Array.from({ length: total }, (_, at) => at + 1));
    await until(() => served.stream.counts().cut === 1);
    await until(() => served.stream.counts().readers === 1);
    deaf.destroy();
    using back = await followEvents(served.url, { lastId: start });
    expect(numbers(await back.until(total))).toEqual(Array.from({ length: total }, (_, at) => at + 1));
  });

  test('[B5] ends streams of a token whose pages nobody takes, once they are too many in sum', async () => {
    const most = 8_000_000;
    const limits = { unread_bytes_a_token: most, unread_bytes: 4 * most, waiting_reads_a_token: 1 };
    const answers = new AnswerBudget(limits);
    await using served = await serve({ answers, limits: { stall_ms: 600_000, heartbeat_ms: 600_000 } });
    served.fill(40, 1_000_000);
    const { port } = new URL(served.url);
    const deaf = Array.from({ length: 12 }, () => {
      const client = rawSocket(port);
      client.pause();
      client.write('GET /?after=0 HTTP/1.1\r\nHost: x\r\n\r\n');
      return client;
    });
    await until(() => answers.bytes.unread > most / 2 && served.stream.counts().readers < deaf.length);
    // One page may come on top of what there was room for.
    expect(answers.bytes.unread).toBeLessThan(most + 1_100_000);
    using other = await followEvents(`${served.url}?after=0`, { token: 'token-other' });
    expect(await other.until(40)).toHaveLength(40);
    for (const client of deaf) client.destroy();
    await until(() => answers.bytes.unread === 0);
  });

  test('a slow reader that reads is served to the end', async () => {
    await using served = await serve({ limits: { stall_ms: 2_000, heartbeat_ms: 15_000 } });
    const { port } = new URL(served.url);
    const slow = rawSocket(port);
    slow.write('GET /?after=0 HTTP/1.1\r\nHost: x\r\n\r\n');
    served.fill(2_000, 4_000);
    let bytes = 0;
    let last = '';
    slow.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      last = (last + chunk.toString('latin1')).slice(-20_000);
      slow.pause();
      setTimeout(() => slow.resume(), 5);
    });
    await until(() => last.includes('"seq":2000,'));
    expect(bytes).toBeGreaterThan(8_000_000);
    expect(served.stream.counts().cut).toBe(0);
    slow.destroy();
  });

  test('looks at nothing when nobody follows, and forgets those who went', async () => {
    let looks = 0;
    await using served = await serve({ onLook: () => (looks += 1) });
    using client = await followEvents(served.url);
    await sleep(120);
    const quiet = looks;
    await sleep(200);
    expect(looks).toBe(quiet);
    served.fill(1, 1);
    await until(() => looks > quiet);
    client[Symbol.dispose]();
    await until(() => served.stream.counts().readers === 0);
    await sleep(120);
    const before = looks;
    await sleep(200);
    expect(looks).toBe(before);
  });
});

function numbers(events: readonly { data: Record<string, unknown> }[]): unknown[] {
  return events.map(({ data }) => data['seq']);
}

interface ServeOptions {
  readonly other?: TempStore;
  readonly isAlive?: EventStreamDeps['isAlive'];
  readonly limits?: EventStreamDeps['limits'];
  readonly answers?: AnswerBudget;
  readonly onLook?: () => void;
  /** Before a page of events is read. */
  readonly onRead?: () => Promise<void>;
}

async function serve({ other, isAlive = () => true, limits, answers, onLook, onRead }: ServeOptions = {}) {
  const temp = await tempStore();
  const toSource = (project: string, { store }: TempStore) => ({
    project,
    newestEvent: () => store.newestEvent(),
    waitFor: (...wait: Parameters<typeof store.waitFor>) => store.waitFor(...wait),
    readFeed() {
      onLook?.();
      return store.readFeed();
    },
    async readEvents(query: Parameters<typeof store.readEvents>[0]) {
      await onRead?.();
      return store.readEvents(query);
    },
  });
  const stream = createEventStream({
    sources: () => [toSource('fg', temp), ...(other === undefined ? [] : [toSource('pb', other)])],
    isAlive,
    limits,
    answers,
  });
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? 'token-1';
    stream.handle(request, response, { ...CALLER, token }).catch((error: unknown) => {
      response.end(JSON.stringify(toErrorBody(error)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    temp,
    stream,
    create: (title: string) => createIn(temp, title, 'fg'),
    /** Events of a size, without the tasks that would have made them. */
    fill(count: number, size = 100) {
      using db = temp.connect();
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
        INSERT INTO events (type, task_id, triggered_by, created_at, data)
        SELECT 'task.updated', 'fg-x', 'user:x', '', '{"text":"' || hex(zeroblob(${size / 2})) || '"}' FROM n`);
    },
    async [Symbol.asyncDispose]() {
      stream.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await temp[Symbol.asyncDispose]();
    },
  };
}

async function createIn({ store }: TempStore, title: string, id_prefix: string): Promise<string> {
  const task = await store.createTask(
    {
      id_prefix,
      title,
      description: '',
      type: 'task',
      priority: 2,
      state: 'todo',
      parent_id: null,
      assignee: null,
      labels: [],
      github_issue: null,
      depends_on: [],
      metadata: new Map(),
    },
    by,
  );
  return task.id;
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await sleep(5);
}
