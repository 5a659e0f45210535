import { describe, expect, it } from 'vitest';
import { decideColor, decideColumns } from './terminal.ts';

describe('decideColor', () => {
  const cases: readonly [string, Parameters<typeof decideColor>[0], boolean][] = [
    ['a terminal', { flag: true, env: {}, isTerminal: true }, true],
    ['a pipe', { flag: true, env: {}, isTerminal: false }, false],
    ['--no-color on a terminal', { flag: false, env: {}, isTerminal: true }, false],
    ['--no-color against FORCE_COLOR', { flag: false, env: { FORCE_COLOR: '1' }, isTerminal: true }, false],
    ['FORCE_COLOR in a pipe', { flag: true, env: { FORCE_COLOR: '1' }, isTerminal: false }, true],
    ['an empty FORCE_COLOR', { flag: true, env: { FORCE_COLOR: '' }, isTerminal: false }, true],
    ['FORCE_COLOR=0', { flag: true, env: { FORCE_COLOR: '0' }, isTerminal: true }, false],
    ['FORCE_COLOR=false', { flag: true, env: { FORCE_COLOR: 'false' }, isTerminal: true }, false],
    ['NO_COLOR', { flag: true, env: { NO_COLOR: '1' }, isTerminal: true }, false],
    [
      'an empty NO_COLOR, which does not count',
      { flag: true, env: { NO_COLOR: '' }, isTerminal: true },
      true,
    ],
    [
      'FORCE_COLOR against NO_COLOR',
      { flag: true, env: { NO_COLOR: '1', FORCE_COLOR: '1' }, isTerminal: false },
      true,
    ],
    ['a dumb terminal', { flag: true, env: { TERM: 'dumb' }, isTerminal: true }, false],
    [
      'FORCE_COLOR on a dumb terminal',
      { flag: true, env: { TERM: 'dumb', FORCE_COLOR: '1' }, isTerminal: true },
      true,
    ],
  ];
  it.each(cases)('%s', (_name, options, expected) => {
    expect(decideColor(options)).toBe(expected);
  });
});

describe('decideColumns', () => {
  it('takes the size of the terminal', () => {
    expect(decideColumns({ columns: 120, isTerminal: true, env: {} })).toBe(120);
  });
  it('knows no limit where there is no terminal', () => {
    expect(decideColumns({ columns: 120, isTerminal: false, env: {} })).toBe(Number.POSITIVE_INFINITY);
    expect(decideColumns({ columns: undefined, isTerminal: false, env: { COLUMNS: '100' } })).toBe(100);
    expect(decideColumns({ columns: undefined, isTerminal: false, env: { COLUMNS: 'wide' } })).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
  it.each([undefined, 0])('takes 80 when the terminal says %s', (columns) => {
    expect(decideColumns({ columns, isTerminal: true, env: {} })).toBe(80);
  });
});
