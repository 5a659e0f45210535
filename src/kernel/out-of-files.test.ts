import { describe, expect, it } from 'vitest';
import { toOutOfFilesError } from './out-of-files.ts';

const fail = (code: string): Error => Object.assign(new Error(`${code}: some words`), { code, path: '/a' });

describe('toOutOfFilesError', () => {
  it.each([
    ['EMFILE', 'Could not read /a: too many files and connections are open in this process'],
    ['ENFILE', 'Could not read /a: too many files and connections are open in this machine'],
  ])('says what %s is', (code, message) => {
    expect(toOutOfFilesError(fail(code), 'Could not read /a')).toMatchObject({
      code: 'io_failed',
      message,
      hint: expect.stringContaining('ulimit -n') as string,
      details: { errno: code, path: '/a' },
    });
  });

  it('leaves other failures alone', () => {
    expect(toOutOfFilesError(fail('EACCES'), 'Could not read /a')).toBeUndefined();
    expect(toOutOfFilesError(new Error('other'), 'Could not read /a')).toBeUndefined();
  });
});
