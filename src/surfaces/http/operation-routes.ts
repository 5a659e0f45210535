import type { Declaration } from '#contract/declare.ts';
import type { Method } from './guard-request.ts';
import { listPlaces, type Routed } from './route-table.ts';

/** A declaration at one of its addresses. */
export interface OperationRoute extends Routed {
  readonly declaration: Declaration;
  readonly ok: 200 | 201;
  /** The names of the places, in order; `project` is the project and no field. */
  readonly places: readonly string[];
  readonly fields: ReadonlyMap<string, FieldShape>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Its answer is a list that is given page by page. */
  readonly paged: boolean;
  /** Its answer is a list that can be read in portions. */
  readonly cursors: boolean;
  /** Its answer holds what must be kept nowhere. */
  readonly secret: boolean;
}

/** What a text in a query stands for. */
export interface FieldShape {
  readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'other';
  /** Of the elements of a list. */
  readonly item?: FieldShape;
  readonly nullable: boolean;
}

export const API = '/api/v1';
const PROJECT = '/projects/{project}';

/**
 * What needs a project can be asked for at two addresses: `/tasks/fg-a3f8`, where the id or `?project=` says which,
 * and `/projects/{project}/tasks/fg-a3f8`.
 */
export function listOperationRoutes(declarations: readonly Declaration[]): OperationRoute[] {
  return declarations.flatMap((declaration) => {
    const { http, needs } = declaration;
    if (http === undefined) return [];
    const route = createRoute(declaration, `${API}${http.path}`, http);
    if (needs !== 'project' || http.path.includes('{project}')) return [route];
    return [route, createRoute(declaration, `${API}${PROJECT}${http.path}`, http)];
  });
}

/** Every operation by its name: the body of such a request is the input, with no other names for its fields. */
export function listNamedRoutes(declarations: readonly Declaration[]): ReadonlyMap<string, OperationRoute> {
  return new Map(
    declarations.map((declaration) => {
      const http = { method: 'post', path: `/operations/${declaration.name}` } as const;
      const ok = declaration.http?.ok ?? 200;
      return [declaration.name, { ...createRoute(declaration, `${API}${http.path}`, http), ok }];
    }),
  );
}

function createRoute(
  declaration: Declaration,
  path: string,
  http: NonNullable<Declaration['http']>,
): OperationRoute {
  const { shape } = declaration.input;
  return {
    declaration,
    // HttpHints spells methods in lower case; the wire does not.
    method: http.method.toUpperCase() as Method,
    path,
    ok: http.ok ?? 200,
    places: listPlaces(path),
    fields: readFields(declaration),
    // A field of its own is never read as another one.
    aliases: new Map(Object.entries(http.aliases ?? {}).filter(([alias]) => !(alias in shape))),
    paged: http.method === 'get' && hasCursors(shape),
    cursors: hasCursors(shape),
    secret: hasToken(declaration),
  };
}

function hasCursors(shape: Readonly<Record<string, unknown>>): boolean {
  return 'cursor' in shape && 'limit' in shape;
}

/** Tokens are shown once, in a field of that name. */
function hasToken({ output }: Declaration): boolean {
  const { shape } = output as { shape?: Readonly<Record<string, unknown>> }; // only an object's schema has one
  return shape !== undefined && 'token' in shape;
}

function readFields({ input }: Declaration): Map<string, FieldShape> {
  const schema = input.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return new Map(Object.entries(schema.properties ?? {}).map(([name, one]) => [name, readShape(one)]));
}

interface JsonSchema {
  readonly type?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function readShape(schema: JsonSchema): FieldShape {
  if (schema.anyOf !== undefined) {
    const others = schema.anyOf.filter(({ type }) => type !== 'null');
    const nullable = others.length < schema.anyOf.length;
    const [only] = others;
    return others.length === 1 && only !== undefined
      ? { ...readShape(only), nullable }
      : { kind: 'other', nullable };
  }
  switch (schema.type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return { kind: schema.type, nullable: false };
    case 'array':
      return { kind: 'list', item: readShape(schema.items ?? {}), nullable: false };
    case undefined:
    default:
      return { kind: 'other', nullable: false };
  }
}
