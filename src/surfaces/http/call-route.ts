import { ForgeError } from '#kernel/errors.ts';
import type { Caller } from '#operations/call-operation.ts';
import { toTaskCursor } from '#operations/task-cursor.ts';
import type { Answer } from './answer.ts';
import type { HttpDeps } from './http-ports.ts';
import { HTTP_LIMITS } from './limits.ts';
import type { OperationRoute } from './operation-routes.ts';
import type { RequestInput } from './request-input.ts';

/** Runs the operation of a route: its JSON as it is, a list page by page. Throws what the operation throws. */
export async function callRoute(
  { caller: operations }: Pick<HttpDeps, 'caller'>,
  route: OperationRoute,
  {
    input,
    project,
    caller,
    signal,
  }: RequestInput & { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<Answer> {
  const { name } = route.declaration;
  if (!route.paged) {
    const output = await operations.call({ name, input, project, caller, signal });
    return { status: route.ok, body: toBody(output) };
  }
  const rows = readPageSize(input.limit);
  // One more than is shown tells whether there is another page.
  const page = { ...input, limit: typeof rows === 'number' ? rows + 1 : rows };
  const output = await operations.call({ name, input: page, project, caller, signal });
  if (!Array.isArray(output) || typeof rows !== 'number' || output.length <= rows)
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

/** What is no size at all is left to the schema. */
function readPageSize(limit: unknown): unknown {
  if (limit === undefined) return HTTP_LIMITS.page_rows;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) return limit;
  if (limit <= HTTP_LIMITS.page_rows_max) return limit;
  throw new ForgeError('invalid_input', `limit: at most ${HTTP_LIMITS.page_rows_max} rows at once`, {
    hint: 'The header Forge-Next-Cursor leads to the next page: ?cursor=…',
    details: { field: 'limit', limit: HTTP_LIMITS.page_rows_max },
  });
}

export function toBody(output: unknown): string {
  return JSON.stringify(output ?? null);
}
