import type { Json, JsonObject } from '#kernel/json.ts';

/** Status, owner and closing as a person would say them: `in progress, owned by ann`; other values stay as they are. */
export function describeLife(value: Json): string | undefined {
  if (!isObject(value) || typeof value['status'] !== 'string') return undefined;
  const { status, state, assignee, close_reason: reason } = value;
  const words = status.replaceAll('_', ' ');
  const isUsual = typeof state !== 'string' || USUAL.get(status) === state;
  const owner = typeof assignee === 'string' && assignee !== '' ? `, owned by ${assignee}` : '';
  const why = typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
  return `${words}${why}${isUsual ? '' : `, in the state ${state}`}${owner}`;
}

const USUAL: ReadonlyMap<string, string> = new Map([
  ['open', 'todo'],
  ['in_progress', 'in_progress'],
  ['closed', 'done'],
]);

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
