import { ForgeError } from '#kernel/errors.ts';
import { assert } from '#kernel/assert.ts';
import type { Method } from './guard-request.ts';

/** Something that can be asked for: a method and a path with names in braces. */
export interface Routed {
  readonly method: Method;
  /** `/api/v1/tasks/{id}` */
  readonly path: string;
}

export interface RouteMatch<R extends Routed> {
  readonly routes: ReadonlyMap<Method, R>;
  /** Decoded values of the places in braces, in order. */
  readonly values: readonly string[];
}

export interface RouteTable<R extends Routed> {
  /** Every route that bears this path, whatever the method. Throws invalid_input for a place that is no text. */
  match(path: string): RouteMatch<R> | undefined;
}

interface Node<R> {
  readonly words: Map<string, Node<R>>;
  any: Node<R> | undefined;
  readonly routes: Map<Method, R>;
}

/** A word goes before a place in braces. Two routes of one method and one path are a bug. */
export function createRouteTable<R extends Routed>(routes: readonly R[]): RouteTable<R> {
  const root = createNode<R>();
  for (const route of routes) {
    let node = root;
    for (const part of splitPath(route.path)) node = step(node, part);
    assert(!node.routes.has(route.method), `${route.method} ${route.path} is declared once`);
    node.routes.set(route.method, route);
  }
  return {
    match(path) {
      const values: string[] = [];
      const found = find(root, splitPath(path), values);
      return found === undefined ? undefined : { routes: found.routes, values: values.map(decodePlace) };
    },
  };
}

/** The names in braces, in order. */
export function listPlaces(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name ?? '');
}

function createNode<R>(): Node<R> {
  return { words: new Map(), any: undefined, routes: new Map() };
}

function step<R>(node: Node<R>, part: string): Node<R> {
  if (part.startsWith('{')) return (node.any ??= createNode());
  const known = node.words.get(part) ?? createNode<R>();
  node.words.set(part, known);
  return known;
}

function find<R>(node: Node<R>, parts: readonly string[], values: string[]): Node<R> | undefined {
  const [part, ...rest] = parts;
  if (part === undefined) return node.routes.size === 0 ? undefined : node;
  const word = node.words.get(part);
  const exact = word === undefined ? undefined : find(word, rest, values);
  if (exact !== undefined || node.any === undefined || part === '') return exact;
  const before = values.length;
  values.push(part);
  const any = find(node.any, rest, values);
  if (any === undefined) values.length = before;
  return any;
}

function splitPath(path: string): string[] {
  return path.slice(1).split('/');
}

function decodePlace(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new ForgeError('invalid_input', 'The address holds a % that stands for no character', { cause });
  }
}
