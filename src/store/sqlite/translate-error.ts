import { ForgeError, isForgeError, type ErrorCode } from '#kernel/errors.ts';

/** SQLite's primary result codes that users can meet, and what each means to them. */
const MEANINGS: Readonly<Record<number, { code: ErrorCode; message: string; hint?: string }>> = {
  5: {
    code: 'store_busy',
    message: 'Another process is writing to the task database and did not finish in time',
    hint: 'Run the command again, or set FORGE_LOCK_TIMEOUT_MS higher',
  },
  6: { code: 'store_busy', message: 'The task database is locked by this process itself' },
  8: {
    code: 'read_only',
    message: 'The task database cannot be written',
    hint: 'Check the permissions of the git directory',
  },
  10: { code: 'io_failed', message: 'The disk refused to read or write the task database' },
  11: {
    code: 'store_corrupt',
    message: 'The task database is damaged',
    hint: 'Keep the file, and restore it or move it away: the local replica beside it holds every task',
  },
  13: {
    code: 'disk_full',
    message: 'The disk is full; nothing was changed',
    hint: 'Free some space and run the command again',
  },
  14: {
    code: 'io_failed',
    message: 'The task database cannot be opened',
    hint: 'Check that its folder exists and may be read and written',
  },
  26: {
    code: 'store_corrupt',
    message: 'The task database is not a database',
    hint: 'Keep the file, and restore it or move it away: the local replica beside it holds every task',
  },
};

/** SQLite could not make its shared memory as large as it must be: the disk has not even that. */
export const NO_SHARED_MEMORY = 4874;
const FULL = 13;
const CORRUPT = 11;

/** SQLite's code for a statement that names what is not there, and how it says so. */
const WRONG_STATEMENT = 1;
const NOT_THERE = /^no such (table|column|index)|has no column named|malformed JSON/;

const SYSTEM: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  ENOSPC: { code: 'disk_full', message: 'The disk is full; nothing was changed' },
  EDQUOT: { code: 'disk_full', message: 'The disk quota is used up; nothing was changed' },
  EFBIG: { code: 'disk_full', message: 'The file size limit is reached; nothing was changed' },
  EROFS: { code: 'read_only', message: 'The file system cannot be written' },
  EACCES: { code: 'permission_denied', message: 'Not allowed to open the task store' },
  EPERM: { code: 'permission_denied', message: 'Not allowed to open the task store' },
  EIO: { code: 'io_failed', message: 'The disk refused to read or write' },
};

/** The one place where SQLite's and the file system's errors become ours. */
export function translateStoreError(error: unknown, path: string): unknown {
  if (isForgeError(error) || !(error instanceof Error)) return error;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') {
    if (errcode === WRONG_STATEMENT && NOT_THERE.test(error.message))
      return toRebuild(path, error.message, error);
    const meaning = MEANINGS[errcode === NO_SHARED_MEMORY ? FULL : errcode & 0xff];
    if (meaning === undefined) return error;
    return new ForgeError(meaning.code, `${meaning.message}: ${path}`, {
      ...(meaning.hint !== undefined && { hint: meaning.hint }),
      details: { path, sqlite: errcode },
      cause: error,
    });
  }
  // An integer that JavaScript cannot hold, in a column where Forge writes none.
  if (code === 'ERR_OUT_OF_RANGE') return toRebuild(path, error.message, error);
  if (typeof code !== 'string' || !('syscall' in error)) return error;
  // Node has no name for a quota that is used up. What else a file system says (a folder in the place of a
  // file, a link into nothing) is no bug of ours either.
  const quota = 'errno' in error && error.errno === -readQuotaNumber();
  const meaning = SYSTEM[quota ? 'EDQUOT' : code] ?? {
    code: 'io_failed',
    message: `The file system refused (${code})`,
  };
  return new ForgeError(meaning.code, `${meaning.message}: ${path}`, {
    details: { path, system: code },
    cause: error,
  });
}

/** For a connection that only reads, because the disk is full. */
export function toFull(path: string, cause: unknown): unknown {
  return translateStoreError(Object.assign(new Error('full', { cause }), { errcode: FULL }), path);
}

/**
 * A database that is whole as a file, but whose tables are not what they should be: nothing that happens by itself
 * would mend it, as it may have been meant.
 */
export function toRebuild(path: string, what: string, cause?: unknown): ForgeError {
  return new ForgeError('store_corrupt', `The task database is not as Forge made it: ${what}: ${path}`, {
    hint: 'What differs: forge doctor; to make it anew from the local replica: forge doctor --rebuild',
    details: { path, rebuild: true },
    ...(cause !== undefined && { cause }),
  });
}

/** What only its content tells. */
export function toDamage(path: string, what: string): unknown {
  return translateStoreError(Object.assign(new Error(what), { errcode: CORRUPT }), path);
}

/** Whether setting the file aside would help; what `toRebuild` made waits for a person. */
export function isDamage(error: unknown): boolean {
  return isForgeError(error) && error.code === 'store_corrupt' && error.details['rebuild'] !== true;
}

/** Asked for when an error came, because a cold command has no other use for this part of Node. */
function readQuotaNumber(): number {
  return process.getBuiltinModule('node:os').constants.errno.EDQUOT;
}
