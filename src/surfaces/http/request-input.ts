import { ForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { FieldShape, OperationRoute } from './operation-routes.ts';
import { checkKey } from './read-body.ts';

export interface RequestInput {
  /** For the operation, which checks it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly project: string | undefined;
}

/**
 * Path, query and body as one input. What stands in the query of a request with a body, but for `project`, is
 * refused: nothing is read from two places. Unknown names are refused by name.
 */
export function assembleInput(
  route: OperationRoute,
  {
    values,
    query,
    body,
  }: { readonly values: readonly string[]; readonly query: string; readonly body: JsonObject },
): RequestInput {
  const input: Record<string, unknown> = {};
  let project: string | undefined;
  for (const [at, name] of route.places.entries()) {
    const value = values[at] ?? '';
    if (name === 'project') project = value;
    else input[name] = toValue(value, route.fields.get(name));
  }
  const asked = readQuery(query);
  if (route.declaration.needs === 'project' && asked.has('project') && !route.fields.has('project')) {
    if (project !== undefined) throw refuse('project', 'stands in the path already');
    project = takeOne('project', asked.get('project') ?? []);
    asked.delete('project');
  }
  if (route.method === 'GET' || route.method === 'DELETE') addQuery(route, asked, input);
  else if (asked.size > 0)
    throw refuse([...asked.keys()].join(', '), 'belongs into the body of this request');
  addBody(route, body, input);
  return { input, project };
}

/** The query of a request that knows no fields but these. */
export function readKnownQuery<Name extends string>(
  query: string,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const [name, values] of readQuery(query)) {
    const known = names.find((one) => one === name);
    if (known === undefined) throw refuse(name, 'is not known here', names);
    found[known] = takeOne(name, values);
  }
  return found;
}

function addQuery(
  route: OperationRoute,
  asked: ReadonlyMap<string, string[]>,
  input: Record<string, unknown>,
): void {
  for (const [name, values] of asked) {
    const field = findField(route, name, input);
    const shape = route.fields.get(field);
    input[field] =
      shape?.kind === 'list'
        ? values.map((value) => toValue(value, shape.item))
        : toValue(takeOne(name, values), shape);
  }
}

function addBody(route: OperationRoute, body: JsonObject, input: Record<string, unknown>): void {
  if ((route.method === 'GET' || route.method === 'DELETE') && Object.keys(body).length > 0)
    throw new ForgeError('invalid_input', 'This request takes its fields from the query, not from a body');
  for (const [name, value] of Object.entries(body)) {
    const field = route.aliases.get(name) ?? name;
    // Said twice and the same is no contradiction.
    if (Object.hasOwn(input, field) && input[field] === value) continue;
    input[findField(route, name, input)] = value;
  }
}

/** The field that a name stands for. Throws for an unknown one, and for one that was given already. */
function findField(route: OperationRoute, name: string, input: Readonly<Record<string, unknown>>): string {
  const field = route.aliases.get(name) ?? name;
  if (!route.fields.has(field)) {
    const known = [...route.fields.keys()].filter((one) => !route.places.includes(one));
    throw refuse(name, 'is not known here', known);
  }
  if (Object.hasOwn(input, field)) throw refuse(name, `says a second time what ${field} is`);
  return field;
}

function readQuery(query: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    checkKey(name);
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
}

function takeOne(name: string, values: readonly string[]): string {
  const [value, second] = values;
  if (value !== undefined && second === undefined) return value;
  throw refuse(name, 'is given more than once');
}

/** What is no number stays a text: the schema has the words for it. */
function toValue(text: string, shape: FieldShape | undefined): unknown {
  if (shape?.nullable === true && text === 'none') return null;
  switch (shape?.kind) {
    case 'integer':
      return /^-?\d{1,16}$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return [toValue(text, shape.item)];
    case 'string':
    case 'other':
    case undefined:
      return text;
  }
}

function refuse(name: string, why: string, known?: readonly string[]): ForgeError {
  const more = known === undefined || known.length === 0 ? {} : { hint: `Known: ${known.join(', ')}` };
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return new ForgeError('invalid_input', `${JSON.stringify(shown)} ${why}`, {
    ...more,
    details: { field: shown },
  });
}
