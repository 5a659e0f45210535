import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { type HttpAnswer, type ProjectHttp, startProjectHttp } from '../../../tests/support/http-server.ts';

let http: ProjectHttp;
beforeAll(async () => {
  http = await startProjectHttp();
  const made: string[] = [];
  for (let at = 0; at < 23; at += 1) {
    const { json } = await http.ask({
      method: 'POST',
      path: '/api/v1/tasks',
      token: http.admin,
      body: { title: `task ${at}`, priority: at % 3, ...(at % 4 === 3 && { depends_on: [made[at - 3]] }) },
    });
    made.push((json as { id: string }).id);
  }
});
afterAll(async () => http[Symbol.asyncDispose]());

const get = (path: string): Promise<HttpAnswer> => http.ask({ path: `/api/v1${path}`, token: http.admin });

function idOf({ json }: HttpAnswer): string {
  return (json as { id: string }).id;
}

function idsOf({ json }: HttpAnswer): string[] {
  return (json as { id: string }[]).map(({ id }) => id);
}

/** Every page of a list, one after the other. */
async function walk(
  path: string,
  between: (page: string[]) => Promise<void> = async () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const answer = await get(cursor === '' ? path : `${path}&cursor=${cursor}`);
    expect(answer.status).toBe(200);
    const page = idsOf(answer);
    pages.push(page);
    cursor = answer.headers['forge-next-cursor'] as string | undefined;
    await between(page);
  }
  return pages;
}

describe('a list page by page', () => {
  it.each([
    '/tasks?limit=5',
    '/tasks?limit=5&sort=created',
    '/tasks?limit=5&sort=updated',
    '/tasks?limit=5&sort=id',
    '/tasks?limit=7&priority=1',
    '/tasks/search?limit=4&query=task',
    '/tasks/ready?limit=3',
    '/tasks/ready?limit=3&sort=impact',
    '/tasks/ready?limit=3&assignee=worker-1',
  ])('is in all the same as at once: %s', async (path) => {
    const whole = idsOf(await get(path.replace(/limit=\d+/, 'limit=1000')));
    const pages = await walk(path);
    const size = Number(/limit=(\d+)/.exec(path)?.[1]);
    expect(pages.flat()).toEqual(whole);
    expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true);
    expect(pages.length).toBe(Math.max(1, Math.ceil(whole.length / size)));
  });

  it('has no header where it ends, and exactly fits a last page', async () => {
    const whole = idsOf(await get('/tasks?limit=1000'));
    const exact = await get(`/tasks?limit=${whole.length}`);
    expect(exact.headers).not.toHaveProperty('forge-next-cursor');
    expect((await get(`/tasks?limit=${whole.length - 1}`)).headers).toHaveProperty('forge-next-cursor');
  });

  it('[A14-3] ends early where its rows are large, and loses none', async () => {
    await using own = await startProjectHttp();
    const ask = (path: string, body?: object): Promise<HttpAnswer> =>
      own.ask({
        method: body === undefined ? 'GET' : 'POST',
        path: `/api/v1${path}`,
        token: own.admin,
        body,
      });
    const made: string[] = [];
    for (let at = 0; at < 18; at += 1)
      made.push(idOf(await ask('/tasks', { title: 'large', description: 'x'.repeat(1_000_000) })));
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const page = await ask(`/tasks?limit=1000${cursor}`);
      expect(page.text.length).toBeLessThanOrEqual(LIMITS.answer_page_bytes + 2);
      seen.push(...idsOf(page));
      const next = page.headers['forge-next-cursor'];
      if (typeof next !== 'string') break;
      cursor = `&cursor=${next}`;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    const whole = await ask('/operations/task.list', {});
    expect([whole.status, whole.json]).toMatchObject([413, { code: 'too_large' }]);
    expect((await ask('/operations/task.list', { limit: 15 })).status).toBe(200);
    const events = await ask('/operations/event.list', { limit: 1_000 });
    expect([events.status, events.json]).toMatchObject([413, { code: 'too_large' }]);
    expect((await ask('/operations/event.list', { limit: 10 })).status).toBe(200);
    expect(own.failures).toEqual([]);
  });

  it('has fifty rows unless somebody says otherwise', async () => {
    await using many = await startProjectHttp();
    const [project] = many.projects.list();
    await project?.use(async ({ store }) => {
      for (let at = 0; at < 51; at += 1)
        await store.createTask(
          {
            id_prefix: 'fg',
            title: `task ${at}`,
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
          { actor: { kind: 'user', name: 'ann', named: true }, now: at },
        );
    });
    const first = await many.ask({ path: '/api/v1/tasks', token: many.admin });
    expect(idsOf(first)).toHaveLength(50);
    const next = String(first.headers['forge-next-cursor']);
    const second = await many.ask({ path: `/api/v1/tasks?cursor=${next}`, token: many.admin });
    expect(idsOf(second)).toHaveLength(1);
  });

  it('shows nothing twice and skips nothing while tasks go and come', async () => {
    const before = idsOf(await get('/tasks?limit=1000'));
    let at = 0;
    const seen = (
      await walk('/tasks?limit=5', async (page) => {
        at += 1;
        // The last one of the page that was just read goes away; new ones come to the front.
        await http.ask({
          method: 'POST',
          path: `/api/v1/tasks/${page.at(-1)}/close`,
          token: http.admin,
          body: { reason: 'done' },
        });
        await http.ask({
          method: 'POST',
          path: '/api/v1/tasks',
          token: http.admin,
          body: { title: `new ${at}`, priority: 0 },
        });
      })
    ).flat();
    expect(new Set(seen).size).toBe(seen.length);
    expect(before.filter((id) => !seen.includes(id))).toEqual([]);
  });

  it('takes no cursor but its own', async () => {
    const { headers } = await get('/tasks?limit=5&sort=created');
    const cursor = String(headers['forge-next-cursor']);
    const forged = Buffer.from(JSON.stringify(['priority', "1'", {}, 1, null, 0, 0])).toString('base64url');
    for (const query of [
      `cursor=${cursor}`,
      'cursor=x',
      'cursor=',
      `cursor=${forged}`,
      `cursor=${'A'.repeat(1_001)}`,
      `cursor=${cursor}&cursor=${cursor}&sort=created`,
    ])
      expect([query, (await get(`/tasks?${query}`)).status]).toEqual([query, 400]);
    expect((await get(`/tasks?sort=created&cursor=${cursor}`)).status).toBe(200);
    expect((await get(`/tasks/ready?explain=true&cursor=${cursor}`)).status).toBe(400);
  });
});

describe('an ETag', () => {
  it('spares a list that did not change', async () => {
    const first = await get('/tasks?limit=2');
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]{32}"$/);
    const ask = (value: string) =>
      http.ask({ path: '/api/v1/tasks?limit=2', token: http.admin, headers: { 'if-none-match': value } });
    const same = await ask(etag);
    expect([same.status, same.text, same.headers.etag]).toEqual([304, '', etag]);
    expect((await ask(`"x", ${etag}`)).status).toBe(304);
    expect((await ask('"x"')).status).toBe(200);
    const [id] = idsOf(first);
    await http.ask({
      method: 'PATCH',
      path: `/api/v1/tasks/${id}`,
      token: http.admin,
      body: { title: 'changed' },
    });
    const changed = await ask(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
  });
});
