import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { allows, type Caller } from '#access/caller.ts';
import type { OperationCall } from '#operations/call-operation.ts';
import { type PagedList, writeAnswer, writePage } from '#operations/write-answer.ts';
import type { Answer } from './answer.ts';
import type { HttpDeps } from './http-ports.ts';
import { HTTP_LIMITS } from './limits.ts';
import type { ListCache } from './list-cache.ts';
import type { OperationRoute } from './operation-routes.ts';
import type { RequestInput } from './request-input.ts';

/** Lists that say nothing but what the project's own store holds. */
const KEPT_LISTS: readonly string[] = ['task.list', 'task.search'];

/** The same as callRoute, without making a list again that nothing was written to since. */
export async function callOrRecall(
  deps: Pick<HttpDeps, 'caller' | 'stamp'> & { readonly lists: ListCache },
  route: OperationRoute,
  call: RequestInput & { readonly caller: Caller; readonly signal: AbortSignal | undefined },
): Promise<Answer> {
  const { name, access } = route.declaration;
  if (!KEPT_LISTS.includes(name) || !allows(call.caller.scope, access)) return callRoute(deps, route, call);
  const { input, project } = call;
  const stamp = await deps.stamp?.({ name, input, project, within: call.caller.projects });
  if (stamp === undefined) return callRoute(deps, route, call);
  const key = JSON.stringify([name, route.paged, project, input]);
  const known = deps.lists.find(key, stamp);
  if (known !== undefined) return known;
  return deps.lists.keep(key, stamp, await callRoute(deps, route, call));
}

/** Runs the operation of a route: its JSON as it is, a list page by page. Throws what the operation throws. */
export async function callRoute(
  { caller: operations }: Pick<HttpDeps, 'caller'>,
  route: Pick<OperationRoute, 'declaration' | 'paged' | 'cursors' | 'ok'>,
  {
    input,
    project,
    caller,
    signal,
  }: RequestInput & { readonly caller: Caller; readonly signal: AbortSignal | undefined },
): Promise<Answer> {
  const { name, access } = route.declaration;
  const call = (asked: Record<string, unknown>, portion?: OperationCall['portion']): Promise<unknown> =>
    operations.call({ name, input: asked, project, caller, signal, portion });
  const rows = route.paged ? readPageSize(input.limit) : readRows(input.limit);
  if (!route.cursors || rows === undefined || !isCursor(input.cursor)) {
    // What has happened is told, however long it is.
    const bytes = access === 'read' ? LIMITS.answer_bytes : LIMITS.remote_answer_bytes;
    return { status: route.ok, body: await writeAnswer(await call(input), { bytes }) };
  }
  const { body, next } = await writePage({
    ask: (page, portion) => call({ ...input, ...page }, portion),
    // The schema takes the order with the first portion.
    sort: input.sort as PagedList['sort'],
    cursor: input.cursor,
    rows,
    most: route.paged
      ? { bytes: LIMITS.answer_page_bytes, beyond: 'end' }
      : { bytes: LIMITS.answer_bytes, beyond: 'refuse' },
  });
  const headers = route.paged && next !== undefined ? { 'Forge-Next-Cursor': next } : {};
  return { status: route.ok, body, headers };
}

function isCursor(cursor: unknown): cursor is string | undefined {
  return cursor === undefined || typeof cursor === 'string';
}

/** Of a list that is asked for as a whole; undefined for what is no number of rows. */
function readRows(limit: unknown): number | undefined {
  if (limit === undefined) return LIMITS.list_limit;
  const sound = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1;
  return sound && limit <= LIMITS.list_limit ? limit : undefined;
}

/** Undefined for what is no size at all: the schema has the words for it. */
function readPageSize(limit: unknown): number | undefined {
  if (limit === undefined) return HTTP_LIMITS.page_rows;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) return undefined;
  if (limit <= HTTP_LIMITS.page_rows_max) return limit;
  throw new ForgeError('invalid_input', `limit: at most ${HTTP_LIMITS.page_rows_max} rows at once`, {
    hint: 'The header Forge-Next-Cursor leads to the next page: ?cursor=…',
    details: { field: 'limit', limit: HTTP_LIMITS.page_rows_max },
  });
}
