import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { ForgeError } from '#kernel/errors.ts';
import type { CliIo } from './cli-io.ts';
import { readAll } from './read-all.ts';

/**
 * The real process as CliIo. What would load Node's streams waits until it is needed: a cold command that
 * writes to a pipe or a file gets by with one system call.
 */
export function createProcessIo(options: { interrupted?: AbortSignal } = {}): CliIo {
  return {
    stdout: (text) => write(1, () => process.stdout, text),
    stderr: (text) => write(2, () => process.stderr, text),
    stdin: () => readAll(process.stdin, 'standard input'),
    ask,
    env: process.env,
    isTerminal: {
      get stdin() {
        return isTerminal(0, () => process.stdin);
      },
      get stdout() {
        return isTerminal(1, () => process.stdout);
      },
      get stderr() {
        return isTerminal(2, () => process.stderr);
      },
    },
    get columns() {
      return process.stdout.columns;
    },
    get cwd() {
      return currentFolder();
    },
    rawArgv: readRawArgv,
    ...options,
  };
}

async function write(fd: number, stream: () => NodeJS.WritableStream, text: string): Promise<void> {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      // A pipe that somebody made non-blocking is full: the stream knows how to wait.
      if (codeOf(error) !== 'EAGAIN') throw error;
      await writeToStream(stream(), rest);
      return;
    }
  }
}

function writeToStream(stream: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // The error comes to the callback too; without a listener it would also end the process.
    stream.once('error', reject);
    stream.write(bytes, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Pipes and files are told apart by fstat; only a device is worth loading Node's terminal code for. */
function isTerminal(fd: number, stream: () => { isTTY?: boolean }): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && stream().isTTY === true;
  } catch {
    // The descriptor is closed.
    return false;
  }
}

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await new Promise<string | undefined>((resolve, reject) => {
      lines.once('SIGINT', () => reject(new ForgeError('interrupted', 'Interrupted')));
      lines.once('close', () => resolve(undefined));
      lines.question(`${question} `, resolve);
    });
    if (answer === undefined) process.stderr.write('\n');
    return answer;
  } catch (error) {
    // The cursor still stands behind the question.
    process.stderr.write('\n');
    throw error;
  } finally {
    lines.close();
  }
}

/** A shell can stand in a folder that is gone; only commands that need to know where they are mind. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new ForgeError('io_failed', 'The current folder does not exist any more', {
      hint: 'cd into a folder that does, or use -C <path>',
      cause: error,
    });
  }
}

function readRawArgv(): Uint8Array | undefined {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
