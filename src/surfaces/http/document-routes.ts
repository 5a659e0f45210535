import type { Declaration } from '#contract/declare.ts';
import { type Answer, toEtag } from './answer.ts';
import { DOCS_STYLE, renderDocsPage } from './docs-page.ts';
import { buildOpenApi } from './openapi-document.ts';
import { API, type OperationRoute } from './operation-routes.ts';
import { type OwnRoute, takesNothing } from './own-route.ts';

const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The API described by itself: for programs, and for people. Built when it is first asked for. */
export function listDocumentRoutes(described: {
  readonly operations: readonly OperationRoute[];
  readonly own: readonly OwnRoute[];
  readonly declarations: readonly Declaration[];
  readonly version: string;
}): OwnRoute[] {
  // As bytes with their mark: to encode and to hash half a megabyte for each request held up others.
  let document: Kept | undefined;
  let page: Kept | undefined;
  const routes: OwnRoute[] = [
    {
      method: 'GET',
      path: `${API}/openapi.json`,
      summary: 'This API as an OpenAPI 3.1 document',
      output: { type: 'object' },
      answer: takesNothing(() => ({
        status: 200,
        ...(document ??= toKept(
          JSON.stringify(buildOpenApi({ ...described, own: [...described.own, ...routes] })),
        )),
      })),
    },
    {
      method: 'GET',
      path: '/api/docs',
      summary: 'This API as a page to read',
      hidden: true,
      answer: takesNothing(() => ({
        status: 200,
        ...(page ??= toKept(renderDocsPage({ ...described, own: [...described.own, ...routes] }))),
        headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_POLICY },
      })),
    },
    {
      method: 'GET',
      path: '/api/docs.css',
      summary: 'How that page looks',
      hidden: true,
      answer: takesNothing(() => ({
        status: 200,
        body: DOCS_STYLE,
        headers: { 'Content-Type': 'text/css; charset=utf-8' },
      })),
    },
    {
      method: 'GET',
      path: '/',
      summary: 'To that page',
      hidden: true,
      answer: () => ({ status: 303, body: '', headers: { Location: '/api/docs' } }),
    },
  ];
  return routes;
}

type Kept = Pick<Answer, 'body' | 'etag'>;

function toKept(text: string): Kept {
  const body = Buffer.from(text);
  return { body, etag: toEtag(body) };
}
