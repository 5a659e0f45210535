import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { listOperationRoutes } from './operation-routes.ts';
import { createRouteTable, listPlaces } from './route-table.ts';

const TABLE = createRouteTable([
  { method: 'GET', path: '/tasks' },
  { method: 'POST', path: '/tasks' },
  { method: 'GET', path: '/tasks/ready' },
  { method: 'GET', path: '/tasks/{id}' },
  { method: 'POST', path: '/tasks/{from}/edges' },
  { method: 'DELETE', path: '/tasks/{from}/edges/{to}' },
]);

function match(path: string): [string[], readonly string[]] | undefined {
  const found = TABLE.match(path);
  return found && [[...found.routes.keys()], found.values];
}

describe('the table of routes', () => {
  it('finds words before places, and goes back where a word leads nowhere', () => {
    expect(match('/tasks')).toEqual([['GET', 'POST'], []]);
    expect(match('/tasks/ready')).toEqual([['GET'], []]);
    expect(match('/tasks/fg-1')).toEqual([['GET'], ['fg-1']]);
    expect(match('/tasks/ready/edges')).toEqual([['POST'], ['ready']]);
    expect(match('/tasks/a/edges/b')).toEqual([['DELETE'], ['a', 'b']]);
  });

  it.each([
    '/',
    '',
    '/tasks/',
    '//tasks',
    '/tasks//edges',
    '/tasks/a/b',
    '/tasks/a/edges/',
    '/TASKS',
    '/tasks/a/edges/b/c',
  ])('knows no %j', (path) => {
    expect(match(path)).toBeUndefined();
  });

  it('takes a place as text, whatever it holds', () => {
    expect(match('/tasks/a%2Fb')).toEqual([['GET'], ['a/b']]);
    expect(match('/tasks/%7Bid%7D')).toEqual([['GET'], ['{id}']]);
    expect(match('/tasks/..')).toEqual([['GET'], ['..']]);
    expect(match('/tasks/__proto__')).toEqual([['GET'], ['__proto__']]);
    expect(() => match('/tasks/%')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    expect(() => match('/tasks/%c3')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  it('has each method of a path once', () => {
    const twice = [
      { method: 'GET', path: '/a/{x}' },
      { method: 'GET', path: '/a/{y}' },
    ] as const;
    expect(() => createRouteTable(twice)).toThrow('GET /a/{y} is declared once');
  });
});

describe('the routes of the operations', () => {
  const routes = listOperationRoutes(OPERATIONS);

  it('clash nowhere, and name only fields that are there', () => {
    expect(() => createRouteTable(routes)).not.toThrow();
    for (const { places, fields, aliases } of routes) {
      const known = [...fields.keys(), 'project'];
      expect(places.filter((name) => !known.includes(name))).toEqual([]);
      expect([...aliases.values()].filter((name) => !fields.has(name))).toEqual([]);
    }
  });

  it('exist twice where a project is needed', () => {
    const paths = routes
      .filter(({ declaration }) => declaration.name === 'task.claim')
      .map(({ path }) => path);
    expect(paths).toEqual(['/api/v1/tasks/{id}/claim', '/api/v1/projects/{project}/tasks/{id}/claim']);
    expect(listPlaces(paths[1] ?? '')).toEqual(['project', 'id']);
  });

  it('exist for every operation that a server can do, but for a few that have a reason', () => {
    const without = OPERATIONS.filter(
      ({ local, http, needs }) => local !== true && http === undefined && needs !== 'repository',
    );
    // The stream of events and the list of served projects stand for two of them; the third is for a terminal.
    expect(without.map(({ name }) => name).toSorted()).toEqual([
      'event.list',
      'project.list',
      'project.prime',
    ]);
  });
});
