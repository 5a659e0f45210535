import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toFileError } from './file-error.ts';

/**
 * All that comes out of a pipe, such as `<(command)` of a shell, or a regular file; undefined where there is nothing.
 * Its writer is waited for without holding the process up. Throws invalid_input for a device, which may never end, and for
 * more than `max_bytes`.
 */
export async function readPipe(
  path: string,
  { max_bytes = LIMITS.git_file_bytes }: { readonly max_bytes?: number } = {},
): Promise<Buffer | undefined> {
  try {
    // Before it is opened: that alone does something to some devices.
    checkKind(path, await stat(path));
    await using file = await open(path);
    checkKind(path, await file.stat());
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      const bytes = chunk as Buffer; // no encoding is set
      size += bytes.length;
      if (size > max_bytes) throw refuse(path, `gives more than ${max_bytes} bytes`);
      chunks.push(bytes);
    }
    return Buffer.concat(chunks, size);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // a ForgeError's code is none of these
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw toFileError(error, `Could not read ${path}`);
  }
}

function checkKind(path: string, stats: Stats): void {
  if (stats.isFile() || stats.isFIFO()) return;
  throw refuse(
    path,
    `is no file and no pipe but ${stats.isDirectory() ? 'a folder' : 'a device or a socket'}`,
  );
}

function refuse(path: string, why: string): ForgeError {
  return new ForgeError('invalid_input', `${path} ${why}`, {
    hint: 'Name a file of tasks, one JSON object a line',
    details: { path },
  });
}
