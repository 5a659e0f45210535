import { describe, expect, it } from 'vitest';
import {
  decideCommandPlace,
  explainCommandPlace,
  type AskedCommand,
  type OwnRunFacts,
} from './decide-command-place.ts';

const OPERATIONS = {
  'a read': { name: 'task.show', needs: 'project', reads: true, path: ['show'] },
  'a write': { name: 'task.comment', needs: 'project', path: ['task', 'comment'] },
  'a write of the checkout': { name: 'sync.export', needs: 'project', local: true, path: ['export'] },
  'a write of the home': { name: 'batch.create', needs: 'nothing', path: ['batch', 'create'] },
  'a hook of git': { name: 'git.hook', needs: 'repository', local: true, path: ['hook'] },
  'the doctor': { name: 'project.doctor', needs: 'project', local: true, path: ['doctor'] },
  'an mcp server': { name: 'mcp.serve', needs: 'nothing', local: true, path: ['mcp'] },
} as const satisfies Readonly<Record<string, AskedCommand>>;
type Name = keyof typeof OPERATIONS;

const RUNS = {
  'outside of a run': undefined,
  'inside of a run': { is_meant: true, is_unread: false },
  'inside of the run of another project': { is_meant: false, is_unread: false },
  'where it cannot be read': { is_meant: true, is_unread: true },
} as const satisfies Readonly<Record<string, OwnRunFacts | undefined>>;
type Run = keyof typeof RUNS;

function expected({
  name,
  run,
  socket,
  server,
}: {
  name: Name;
  run: Run;
  socket: boolean;
  server: boolean;
}): string {
  if (name === 'a read' && !socket) return 'here';
  if (name === 'a hook of git') return 'here';
  if (run === 'outside of a run' || run === 'inside of the run of another project') return 'here';
  if (server) return 'by_server';
  const reads = name === 'a read' || name === 'the doctor';
  if (run === 'where it cannot be read' && !reads) return 'unread';
  if (socket && ['a read', 'a write', 'an mcp server'].includes(name)) return 'by_watcher';
  return reads ? 'here' : 'not_by_run';
}

describe('decideCommandPlace, the whole table', () => {
  const all = (Object.keys(OPERATIONS) as Name[]).flatMap((name) =>
    (Object.keys(RUNS) as Run[]).flatMap((run) =>
      [true, false].flatMap((socket) => [true, false].map((server) => ({ name, run, socket, server }))),
    ),
  );

  it.each(all)('$name, $run, socket $socket, a server named: $server', (row) => {
    const { name, run, socket, server } = row;
    const facts = { has_socket: socket, names_server: server, agent: undefined, findRun: () => RUNS[run] };
    expect(decideCommandPlace(OPERATIONS[name], {}, facts).outcome).toBe(expected(row));
  });

  it('looks for no run where it does not count', () => {
    const findRun = () => {
      throw new Error('looked');
    };
    const facts = { has_socket: false, names_server: false, agent: undefined, findRun };
    expect(decideCommandPlace(OPERATIONS['a read'], {}, facts).outcome).toBe('here');
    expect(decideCommandPlace(OPERATIONS['a hook of git'], {}, facts).outcome).toBe('here');
  });

  it('the doctor that mends is a write', () => {
    const facts = {
      has_socket: false,
      names_server: false,
      agent: undefined,
      findRun: () => RUNS['inside of a run'],
    };
    expect(decideCommandPlace(OPERATIONS['the doctor'], { fix: true }, facts)).toEqual({
      outcome: 'not_by_run',
      is_local: true,
    });
    expect(decideCommandPlace(OPERATIONS['a write'], {}, facts)).toEqual({
      outcome: 'not_by_run',
      is_local: false,
    });
  });

  it.each([
    ['project.trust', {}, 'for_people'],
    ['project.doctor', { fix: true }, 'for_people'],
    ['project.doctor', {}, 'here'],
    ['task.comment', {}, 'here'],
  ])('an agent asks for %s with %j: %s', (name, input, outcome) => {
    const facts = { has_socket: false, names_server: false, agent: 'w1', findRun: () => undefined };
    const operation = { name, needs: 'project', path: ['x'] } as const;
    expect(decideCommandPlace(operation, input, facts).outcome).toBe(outcome);
    expect(decideCommandPlace(operation, input, { ...facts, agent: undefined }).outcome).toBe('here');
  });
});

describe('what is told of it', () => {
  const operation = { name: 'x.y', path: ['x', 'y'] };
  it.each([
    [{ outcome: 'for_people', agent: 'w1', flag: 'fix' }, 'w1 is an agent: forge x y --fix is for a person'],
    [{ outcome: 'for_people', agent: 'w1', flag: undefined }, 'w1 is an agent: forge x y is for a person'],
    [{ outcome: 'by_server' }, 'Inside of a run Forge is reached by the run alone, not by a server'],
    [
      { outcome: 'unread' },
      'Forge cannot tell whether an agent asks, because the processes at /proc cannot be read: nothing is written',
    ],
    [{ outcome: 'not_by_run', is_local: true }, 'forge x y is for a person, not for a run'],
    [
      { outcome: 'not_by_run', is_local: false },
      'This is inside of a run, and the way to its watcher is missing (FORGE_SOCKET): nothing is written',
    ],
  ] as const)('%j', (refusal, message) => {
    expect(explainCommandPlace(operation, refusal)).toMatchObject({
      code: 'permission_denied',
      message,
      details: { operation: 'x.y' },
    });
  });
});
