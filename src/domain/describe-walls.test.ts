import { describe, expect, it } from 'vitest';
import { hitsWalls } from './describe-walls.ts';

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
