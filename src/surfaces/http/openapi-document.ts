import type { Declaration } from '#contract/declare.ts';
import { ERROR_CODES, type ErrorCode } from '#kernel/errors.ts';
import { API, type OperationRoute } from './operation-routes.ts';
import type { OwnRoute } from './own-route.ts';
import { listPlaces } from './route-table.ts';

type Schema = Record<string, unknown>;
type Paths = Record<string, Record<string, Schema>>;

/** Besides those of the declaration, any request may end so. */
const COMMON: readonly ErrorCode[] = ['invalid_input', 'unauthorized', 'permission_denied'];

/** OpenAPI 3.1, whose schemas are those of JSON Schema 2020-12: what Zod writes goes in as it is. */
export function buildOpenApi({
  operations,
  own,
  declarations,
  version,
}: {
  readonly operations: readonly OperationRoute[];
  readonly own: readonly OwnRoute[];
  readonly declarations: readonly Declaration[];
  readonly version: string;
}): Schema {
  const schemas: Record<string, Schema> = { Error: ERROR_SCHEMA };
  const paths: Paths = {};
  const add = (path: string, method: string, description: Schema): void => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: description };
  };
  for (const route of operations) add(route.path, route.method, describeOperation(route, schemas));
  for (const route of own) if (route.hidden !== true) add(route.path, route.method, describeOwn(route));
  const names = declarations.filter(({ local }) => local !== true).map(({ name }) => name);
  add(`${API}/operations/{name}`, 'POST', describeAnyOperation(names));
  return {
    openapi: '3.1.0',
    info: { title: 'Forge', version, summary: 'A task graph in a git repository' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'forge token create --scope task' },
      },
    },
    security: [{ token: [] }],
  };
}

function describeOperation(route: OperationRoute, schemas: Record<string, Schema>): Schema {
  const { declaration, places, method, fields } = route;
  const input = toSchema(declaration.input, 'input', declaration.name);
  const properties = (input.properties ?? {}) as Record<string, Schema>; // of an object's schema
  const required = (input.required ?? []) as string[];
  const free = [...fields.keys()].filter((name) => !places.includes(name));
  const inQuery = method === 'GET' || method === 'DELETE';
  const scoped = declaration.needs === 'project' && !places.includes('project') && !fields.has('project');
  const answer = `${toTitle(declaration.name)}Answer`;
  schemas[answer] ??= toSchema(declaration.output, 'output', answer);
  return {
    operationId: `${method.toLowerCase()}${toTitle(declaration.name)}${places.includes('project') ? 'InProject' : ''}`,
    summary: declaration.summary,
    ...(declaration.about !== undefined && { description: declaration.about }),
    tags: [declaration.name.split('.')[0] ?? ''],
    'x-forge-operation': declaration.name,
    'x-forge-scope': declaration.access,
    parameters: [
      ...places.map((name) => toParameter(name, 'path', properties[name] ?? { type: 'string' }, true)),
      ...(inQuery
        ? free.map((name) => toParameter(name, 'query', properties[name] ?? {}, required.includes(name)))
        : []),
      ...(scoped
        ? [toParameter('project', 'query', { type: 'string', description: 'Prefix or name' }, false)]
        : []),
      ...(method === 'GET' ? [] : [KEY_PARAMETER]),
    ],
    ...(!inQuery && { requestBody: toRequestBody(route, properties, required, free) }),
    responses: {
      [String(route.ok)]: {
        description: 'Done',
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${answer}` } } },
        ...(route.paged && {
          headers: {
            'Forge-Next-Cursor': { description: 'Where the next page begins', schema: { type: 'string' } },
          },
        }),
      },
      ...toErrors([...COMMON, ...declaration.errors]),
    },
  };
}

function toRequestBody(
  { aliases }: OperationRoute,
  properties: Record<string, Schema>,
  required: readonly string[],
  free: readonly string[],
): Schema {
  const other = [...aliases].map(([alias, field]) => [
    alias,
    { ...properties[field], description: `Another name for ${field}` },
  ]);
  const aliased = new Set(aliases.values());
  const needed = required.filter((name) => free.includes(name) && !aliased.has(name));
  const schema = {
    type: 'object',
    properties: {
      ...Object.fromEntries(free.map((name) => [name, properties[name] ?? {}])),
      ...Object.fromEntries(other),
    },
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  };
  return { required: needed.length > 0, content: { 'application/json': { schema } } };
}

function describeOwn({ path, method, summary, open, output, ok = 200, raw }: OwnRoute): Schema {
  const content = raw === undefined && { content: { 'application/json': { schema: output ?? {} } } };
  return {
    operationId: `${method.toLowerCase()}${path
      .split(/\W+/)
      .filter((part) => part !== '')
      .map(toTitle)
      .join('')}`,
    summary,
    tags: ['server'],
    ...(open === true && { security: [] }),
    parameters: listPlaces(path).map((name) => toParameter(name, 'path', { type: 'string' }, true)),
    responses: {
      [String(ok)]: { description: 'Done', ...content },
      ...toErrors(open === true ? [] : COMMON),
    },
  };
}

function describeAnyOperation(names: readonly string[]): Schema {
  return {
    operationId: 'postOperation',
    summary: 'Run any operation by its name; the body is its input',
    tags: ['server'],
    parameters: [
      toParameter('name', 'path', { type: 'string', enum: names }, true),
      toParameter('project', 'query', { type: 'string', description: 'Prefix or name' }, false),
      KEY_PARAMETER,
    ],
    requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: {} } } },
      ...toErrors(COMMON),
    },
  };
}

/** One response for each status, with every code that has it. */
function toErrors(codes: readonly ErrorCode[]): Record<string, Schema> {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codes) {
    const { http } = ERROR_CODES[code];
    byStatus.set(http, (byStatus.get(http) ?? new Set()).add(code));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      String(status),
      {
        description: [...found].join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

function toParameter(name: string, place: 'path' | 'query', schema: Schema, required: boolean): Schema {
  const { description, ...rest } = schema;
  return { name, in: place, required, ...(description !== undefined && { description }), schema: rest };
}

/** `#` and `#/$defs/…` are relative to the schema itself; here it is part of a larger document. */
function toSchema(schema: Declaration['output'], io: 'input' | 'output', name: string): Schema {
  const { $schema: _schema, ...json } = schema.toJSONSchema({ io, unrepresentable: 'any' }) as Schema;
  const text = JSON.stringify(json).replaceAll(
    /"\$ref":"#([^"]*)"/g,
    (_found, rest: string) => `"$ref":"#/components/schemas/${name}${rest}"`,
  );
  return JSON.parse(text) as Schema; // it was one a moment ago
}

/** `task.claim` → `TaskClaim`. */
function toTitle(name: string): string {
  return name
    .split(/[._-]/)
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join('');
}

const KEY_PARAMETER: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same request does it once; kept for 24 hours',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
};

const ERROR_SCHEMA: Schema = {
  type: 'object',
  properties: {
    code: { type: 'string', enum: Object.keys(ERROR_CODES) },
    message: { type: 'string' },
    hint: { type: 'string' },
    details: { type: 'object' },
    request_id: { type: 'string' },
  },
  required: ['code', 'message', 'details', 'request_id'],
};
