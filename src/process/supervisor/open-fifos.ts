import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromPipe, type OutputSource } from './output-source.ts';

/** Two pipes: what is written to `write` (a file descriptor for a child) comes out of `read`. */
export interface Fifos {
  readonly read: readonly [OutputSource, OutputSource];
  readonly write: readonly [number, number];
  /** To be called once the child has its ends, or does not get them: as long as they are open here nothing ends. */
  closeWriters(): void;
}

/**
 * Node gives a child sockets in place of pipes, and a socket cannot be opened by its name: `echo x > /dev/stderr`, or
 * `tee /dev/stderr`, fails. Node cannot make a pipe either, but it can open one that has a name. Undefined where
 * there is no `mkfifo`.
 */
export async function openFifos(): Promise<Fifos | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'forge-run-'));
  try {
    const paths = [join(folder, 'stdout'), join(folder, 'stderr')] as const;
    if (!(await makeFifos(paths))) return undefined;
    // The reader first: opening the other end waits for one.
    const read = [openReader(paths[0]), openReader(paths[1])] as const;
    const write = [openSync(paths[0], constants.O_WRONLY), openSync(paths[1], constants.O_WRONLY)] as const;
    return { read, write, closeWriters: () => write.forEach((file) => closeSync(file)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeFifos(paths: readonly string[]): Promise<boolean> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    const env = { PATH: '/usr/bin:/bin' };
    execFile('mkfifo', ['-m', '600', ...paths], { env }, (error) => resolve(error === null));
  });
}

function openReader(path: string): OutputSource {
  return fromPipe(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
}
