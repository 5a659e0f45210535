import { expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { toFileError } from './file-error.ts';

it.each([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['EROFS', 'read_only'],
  ['EACCES', 'permission_denied'],
  ['EPERM', 'permission_denied'],
  ['EIO', 'io_failed'],
  [undefined, 'io_failed'],
])('turns %s into %s, with the reason in the message', (errno, code) => {
  const cause = Object.assign(new Error('the reason'), { code: errno, path: '/x' });
  const error = toFileError(cause, 'Could not do it');
  expect(error).toMatchObject({
    code,
    message: 'Could not do it: the reason',
    cause,
    details: { path: '/x' },
  });
  expect(error.hint === undefined).toBe(code === 'io_failed');
});

it('says that too many files are open where that is the reason', () => {
  const cause = Object.assign(new Error('the reason'), { code: 'EMFILE', path: '/x' });
  expect(toFileError(cause, 'Could not do it')).toMatchObject({
    code: 'io_failed',
    message: expect.stringMatching(/^Could not do it: too many files/) as string,
    hint: expect.stringContaining('ulimit') as string,
  });
});

it('leaves an error of Forge as it is', () => {
  const error = new ForgeError('store_busy', 'Busy');
  expect(toFileError(error, 'Could not do it')).toBe(error);
});
