import { describe, expect, it } from 'vitest';
import { startHttp } from '../../../tests/support/http-server.ts';
import { HTTP_LIMITS } from './limits.ts';
import { ListCache } from './list-cache.ts';

describe('lists that are kept', () => {
  it('are sent again as long as nothing was written, and never longer', async () => {
    let made = 0;
    let stamp: string | undefined = '1';
    await using http = await startHttp({
      caller: { call: async ({ name }) => [{ name, made: (made += 1) }] },
      deps: { stamp: async () => stamp },
    });
    const { token } = await http.token('read');
    const ask = (path: string) => http.ask({ path, token });
    const first = await ask('/api/v1/tasks');
    expect(await ask('/api/v1/tasks')).toMatchObject({
      json: first.json,
      headers: { etag: first.headers.etag },
    });
    expect(made).toBe(1);
    // Another question, another project, another operation.
    expect((await ask('/api/v1/tasks?limit=5')).json).not.toEqual(first.json);
    expect((await ask('/api/v1/tasks?project=fg')).json).not.toEqual(first.json);
    await ask('/api/v1/agents');
    await ask('/api/v1/agents');
    expect(made).toBe(5);
    stamp = '2';
    const second = await ask('/api/v1/tasks');
    expect(second.headers.etag).not.toBe(first.headers.etag);
    const headers = { 'if-none-match': String(second.headers.etag) };
    expect(await http.ask({ path: '/api/v1/tasks', token, headers })).toMatchObject({
      status: 304,
      text: '',
    });
    // Where nothing is known of writes, nothing is kept.
    stamp = undefined;
    await ask('/api/v1/tasks');
    await ask('/api/v1/tasks');
    expect(made).toBe(8);
    expect(await http.ask({ path: '/api/v1/tasks' })).toMatchObject({ status: 401 });
  });

  it('never fill more than their share of memory, and those used last stay', () => {
    const cache = new ListCache();
    const body = 'x'.repeat(HTTP_LIMITS.list_cache_bytes / 4);
    const keep = (key: string): void => void cache.keep(key, '1', { status: 200, body });
    for (const key of ['a', 'b', 'c', 'd']) keep(key);
    expect(cache.find('a', '1')).toBeDefined();
    keep('e');
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.find(key, '1') !== undefined)).toEqual([
      'a',
      'c',
      'd',
      'e',
    ]);
    cache.keep('large', '1', { status: 200, body: `${body}x` });
    expect(cache.find('large', '1')).toBeUndefined();
  });
});
