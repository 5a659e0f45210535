import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { LIMITS } from '#kernel/limits.ts';

/**
 * The bytes of a file; undefined where there is none to read. An agent may have put anything in the place of a file of
 * git's: a pipe, which would be waited for without end, is none, nor is what has more bytes than git would write.
 */
export function readPlainFile(path: string, max_bytes: number = LIMITS.git_file_bytes): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= max_bytes ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
