import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import { promisify } from 'node:util';
import { toTemporaryPath } from '#process/temporary-path.ts';
import { syncPlaced } from './sync-placed.ts';

const BATCH_BYTES = 1 << 18;
const NEWLINE = 0x0a;

export interface WrittenLines {
  readonly digest: string;
  readonly size: number;
  /** Puts the file in its place, whole; returns what it is then. */
  publish(): BigIntStats;
  discard(): void;
}

/** Takes one line, without its newline. */
export type WriteLine = (line: string | Uint8Array) => void;

/**
 * Writes a file of lines next to its place, as much at a time as fits into a batch, and syncs it; `meanwhile` gets the
 * path where it is complete.
 */
export async function writeLinesBeside(
  path: string,
  produce: (write: WriteLine) => Promise<void>,
  meanwhile?: (temporary: string) => Promise<void>,
): Promise<WrittenLines> {
  const temporary = toTemporaryPath(path);
  const discard = (): void => rmSync(temporary, { force: true });
  const hash = createHash('sha256');
  const file = openSync(temporary, 'wx+');
  const batch = createBatch((bytes) => {
    hash.update(bytes);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  });
  let size = 0;
  try {
    await produce(batch.write);
    size = batch.end();
    await Promise.all([promisify(fsync)(file), meanwhile?.(temporary)]);
  } catch (error) {
    closeSync(file);
    discard();
    throw error;
  }
  return {
    digest: hash.digest('hex'),
    size,
    publish() {
      try {
        renameSync(temporary, path);
        // The file itself is synced already.
        syncPlaced(path);
        return fstatSync(file, { bigint: true });
      } catch (error) {
        discard();
        throw error;
      } finally {
        closeSync(file);
      }
    },
    discard() {
      closeSync(file);
      discard();
    },
  };
}

/** Lines as bytes in one buffer that is used again and again: a new one for each batch would be most of the memory. */
function createBatch(put: (bytes: Uint8Array) => void): { write: WriteLine; end(): number } {
  const buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);
  let used = 0;
  let size = 0;
  const flush = (): void => {
    if (used > 0) put(buffer.subarray(0, used));
    size += used;
    used = 0;
  };
  return {
    write(line) {
      // A code unit takes three bytes at most.
      const most = (typeof line === 'string' ? line.length * 3 : line.length) + 1;
      if (most > BATCH_BYTES - used) flush();
      if (most > BATCH_BYTES) {
        const bytes = typeof line === 'string' ? Buffer.from(`${line}\n`, 'utf8') : line;
        put(bytes);
        size += bytes.length;
        if (typeof line === 'string') return;
      } else if (typeof line === 'string') used += buffer.write(line, used, 'utf8');
      else {
        buffer.set(line, used);
        used += line.length;
      }
      buffer[used] = NEWLINE;
      used += 1;
    },
    end() {
      flush();
      return size;
    },
  };
}
