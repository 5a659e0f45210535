import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';

const BATCH_BYTES = 1 << 20;
const NEWLINE = Buffer.from('\n');

export interface WrittenLines {
  readonly digest: string;
  readonly size: number;
  /** Puts the file in its place, whole; returns what it is then. */
  publish(): BigIntStats;
  discard(): void;
}

/** Writes a file of lines next to its place, as much at a time as fits into a batch, and syncs it. */
export async function writeLinesBeside(
  path: string,
  produce: (write: (line: string | Uint8Array) => void) => Promise<void>,
): Promise<WrittenLines> {
  const temporary = `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`;
  const discard = (): void => rmSync(temporary, { force: true });
  const hash = createHash('sha256');
  const file = openSync(temporary, 'wx+');
  let size = 0;
  try {
    let texts: string[] = [];
    let length = 0;
    const put = (bytes: Uint8Array): void => {
      hash.update(bytes);
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
      size += bytes.length;
    };
    const flush = (): void => {
      if (texts.length === 0) return;
      put(Buffer.from(`${texts.join('\n')}\n`, 'utf8'));
      texts = [];
      length = 0;
    };
    await produce((line) => {
      if (typeof line === 'string') {
        texts.push(line);
        length += line.length;
        if (length >= BATCH_BYTES) flush();
      } else {
        flush();
        put(line);
        put(NEWLINE);
      }
    });
    flush();
    fsyncSync(file);
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
