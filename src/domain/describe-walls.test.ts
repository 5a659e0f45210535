import { describe, expect, it } from 'vitest';
import { describeWalls, hitsWalls } from './describe-walls.ts';

const ALL = { possible: true, agents: 'on', checks: 'on', off: [] } as const;

it.each([
  [ALL, /^around agents and checks: they can change their own checkout/, undefined],
  [{ ...ALL, possible: false }, /^none: an agent runs as you/, /Install bubblewrap/],
  [{ ...ALL, agents: 'off', checks: 'off' }, /^switched off: an agent runs as you/, /walls.agents/],
  [{ ...ALL, agents: 'off' }, /^around checks only: an agent runs as you/, /walls.agents/],
  [{ ...ALL, checks: 'off' }, /^around agents, and not around the checks/, /walls.checks/],
  [{ ...ALL, off: ['ada'] }, /^around agents and checks, but for ada$/, /^forge agent add ada --walls on$/],
] as const)('%j is told as it is', (walls, message, hint) => {
  const told = describeWalls(walls);
  expect(told.message).toMatch(message);
  expect(told.hint ?? '').toMatch(hint ?? /^$/);
});

describe('the output of a check that failed inside of walls', () => {
  it.each([
    ["touch: cannot touch '/srv/cache/x': Read-only file system", true],
    ["Error: EROFS: read-only file system, open '/etc/x'", true],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?', true],
    ['bash: /opt/data/log: Permission denied', true],
    ["EACCES: permission denied, mkdir '/usr/lib/x'", true],
    ['bash: ./check.sh: Permission denied', false],
    ['AssertionError: expected 1 to be 2', false],
    ['', false],
  ])('%s: %s', (output, is) => {
    expect(hitsWalls(output)).toBe(is);
  });
});
