import { ForgeError } from './errors.ts';

/** Nothing is wrong with the file: undefined for any other failure than a limit of open files. */
export function toOutOfFilesError(error: unknown, sentence: string): ForgeError | undefined {
  const { code, path } = error as { code?: unknown; path?: unknown }; // what fs and child_process throw
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined;
  const whose = code === 'EMFILE' ? 'this process' : 'this machine';
  return new ForgeError('io_failed', `${sentence}: too many files and connections are open in ${whose}`, {
    hint: 'Raise the limit of open files (ulimit -n) and start the program again',
    details: { errno: code, ...(path !== undefined && { path }) },
    cause: error,
  });
}
