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
