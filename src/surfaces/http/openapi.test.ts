import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttp, type TestHttp } from '../../../tests/support/http-server.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { type Answer, toEtag } from './answer.ts';
import { listDocumentRoutes } from './document-routes.ts';
import type { OwnRequest } from './own-route.ts';
import { listOperationRoutes } from './operation-routes.ts';

interface Described {
  readonly operationId: string;
  readonly parameters: { name: string; in: string; required: boolean; schema: object }[];
  readonly requestBody?: { content: Record<string, { schema: { properties: object } }> };
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>;
  readonly security?: unknown[];
}
interface Document {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { schemas: Record<string, object>; securitySchemes: object };
  readonly security: unknown[];
}

let http: TestHttp;
let token: string;
let document: Document;
beforeAll(async () => {
  http = await startHttp();
  ({ token } = await http.token('read'));
  document = (await http.ask({ path: '/api/v1/openapi.json', token })).json as Document;
});
afterAll(async () => http[Symbol.asyncDispose]());

describe('the OpenAPI document', () => {
  it('is 3.1, and for those with a token', async () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Forge', version: '0.0.0-test' } });
    expect((await http.ask({ path: '/api/v1/openapi.json' })).status).toBe(401);
    expect(document.security).toEqual([{ token: [] }]);
  });

  it('is made, encoded and marked once', () => {
    const [route] = listDocumentRoutes({ operations: [], own: [], declarations: [], version: '1' });
    const target = { method: 'GET', path: '', query: new URLSearchParams() };
    const asked = { target, body: {} } as unknown as OwnRequest; // it looks at nothing else
    const [first, second] = [route?.answer?.(asked), route?.answer?.(asked)] as readonly Answer[];
    expect(first?.body).toBeInstanceOf(Buffer);
    expect(second?.body).toBe(first?.body);
    expect(first?.etag).toBe(toEtag(first?.body ?? ''));
  });

  it('has every route of every operation, with its fields and answer', () => {
    const routes = listOperationRoutes(OPERATIONS);
    expect(routes.length).toBeGreaterThan(60);
    for (const { method, path, ok, fields, places } of routes) {
      const described = document.paths[path]?.[method.toLowerCase()];
      expect([method, path, described]).toEqual([method, path, expect.any(Object)]);
      expect(Object.keys(described?.responses ?? {})).toContain(String(ok));
      const body = described?.requestBody?.content['application/json']?.schema.properties ?? {};
      const named = [...(described?.parameters ?? []).map(({ name }) => name), ...Object.keys(body)];
      expect(named).toEqual(expect.arrayContaining([...fields.keys(), ...places]));
    }
  });

  it('names each operation once, and every reference leads somewhere', () => {
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const ids = all.map(({ operationId }) => operationId);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of refs) {
      const target = ref
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
      expect([ref, typeof target]).toEqual([ref, 'object']);
    }
    // A recursive answer is described by itself.
    expect(JSON.stringify(document.components.schemas['DepTreeAnswer'])).toContain(
      '#/components/schemas/DepTreeAnswer',
    );
  });

  it('has the places of a path as parameters, and all of them', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const places = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(methods)) {
        const inPath = parameters.filter((one) => one.in === 'path');
        expect(inPath.map(({ name }) => name)).toEqual(places);
        expect(inPath.every(({ required }) => required)).toBe(true);
      }
    }
  });

  it("has seed 004's names for fields", () => {
    const body = (path: string) =>
      Object.keys(
        document.paths[path]?.['post']?.requestBody?.content['application/json']?.schema.properties ?? {},
      );
    expect(body('/api/v1/tasks/{id}/claim')).toEqual(expect.arrayContaining(['agent_id', 'overrides']));
    expect(body('/api/v1/tasks/{from_id}/dependencies')).toContain('depends_on_id');
    expect(body('/api/v1/tasks/{id}/transition')).toEqual(expect.arrayContaining(['status', 'version']));
  });
});

describe('the page to read', () => {
  it('is plain HTML of our own that may load nothing else', async () => {
    const { status, headers, text } = await http.ask({ path: '/api/docs', token });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'; style-src 'self'");
    expect(text).not.toMatch(/<script|javascript:|\son\w+=|style=|https?:\/\//i);
    for (const { path, declaration } of listOperationRoutes(OPERATIONS)) {
      if (path !== `/api/v1${declaration.http?.path}`) continue;
      expect(text).toContain(`<code>${path}</code>`);
    }
    const style = await http.ask({ path: '/api/docs.css', token });
    expect([style.status, style.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
    expect(style.text).not.toMatch(/url\(|@import/);
    expect(await http.ask({ path: '/', token })).toMatchObject({
      status: 303,
      headers: { location: '/api/docs' },
    });
  });
});
