import { ForgeError } from '#kernel/errors.ts';
import { allows, type Caller } from '#operations/call-operation.ts';
import { toTaskCursor } from '#operations/task-cursor.ts';
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
  route: OperationRoute,
  {
    input,
    project,
    caller,
    signal,
  }: RequestInput & { readonly caller: Caller; readonly signal: AbortSignal | undefined },
): Promise<Answer> {
  const { name } = route.declaration;
  const rows = route.paged ? readPageSize(input.limit) : undefined;
  // One more than is shown tells whether there is another page.
  const asked = rows === undefined ? input : { ...input, limit: rows + 1 };
  const output = await operations.call({ name, input: asked, project, caller, signal });
  if (rows === undefined || !Array.isArray(output) || output.length <= rows)
    return { status: route.ok, body: toBody(output) };
  const shown: readonly unknown[] = output.slice(0, rows);
  // The schema has taken the order by now.
  const next = toTaskCursor(shown.at(-1), input.sort as Parameters<typeof toTaskCursor>[1]);
  return {
    status: route.ok,
    body: toBody(shown),
    headers: next === undefined ? {} : { 'Forge-Next-Cursor': next },
  };
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

function toBody(output: unknown): string {
  return JSON.stringify(output ?? null);
}
