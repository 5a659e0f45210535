import { describe, expect, it } from 'vitest';
import { readOpenFileLimit } from './open-file-limit.ts';

const toText = (soft: string): string =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             30971                30971                processes ',
    `Max open files            ${soft.padEnd(20)} 1048576              files     `,
    'Max locked memory         65536                65536                bytes     ',
  ].join('\n');

describe('readOpenFileLimit', () => {
  it('reads the limit that counts', () => {
    expect(readOpenFileLimit(() => toText('1024'))).toBe(1_024);
    expect(readOpenFileLimit(() => toText('unlimited'))).toBe(Infinity);
  });

  it('says nothing where the system does not tell', () => {
    expect(readOpenFileLimit(() => 'something else')).toBeUndefined();
    expect(
      readOpenFileLimit(() => {
        throw new Error('ENOENT');
      }),
    ).toBeUndefined();
  });

  it('knows that of this process', () => {
    expect(readOpenFileLimit() ?? Infinity).toBeGreaterThan(64);
  });
});
