import { type ErrorCode, ForgeError, isForgeError } from '#kernel/errors.ts';
import { toOutOfFilesError } from '#kernel/out-of-files.ts';

const CODES: ReadonlyMap<string, { code: ErrorCode; hint: string }> = new Map([
  ['ENOSPC', { code: 'disk_full', hint: 'Make room on the disk and try again' }],
  ['EDQUOT', { code: 'disk_full', hint: 'Make room in your quota and try again' }],
  ['EROFS', { code: 'read_only', hint: 'Mount the file system for writing, or work on another copy' }],
  ['EACCES', { code: 'permission_denied', hint: 'Check who owns the folder and what its permissions are' }],
  ['EPERM', { code: 'permission_denied', hint: 'Check who owns the folder and what its permissions are' }],
]);

/** A failure of the file system in Forge's words. What is a ForgeError already comes back as it is. */
export function toFileError(error: unknown, sentence: string): ForgeError {
  if (isForgeError(error)) return error;
  const outOfFiles = toOutOfFilesError(error, sentence);
  if (outOfFiles !== undefined) return outOfFiles;
  const { code, path, message } = error as NodeJS.ErrnoException; // what fs throws
  const known = CODES.get(code ?? '') ?? { code: 'io_failed' };
  return new ForgeError(known.code, `${sentence}: ${message}`, {
    ...('hint' in known && { hint: known.hint }),
    details: { ...(path !== undefined && { path }), ...(code !== undefined && { errno: code }) },
    cause: error,
  });
}
