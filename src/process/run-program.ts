import { ForgeError } from '#kernel/errors.ts';

export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

/**
 * Runs a program by argv and waits for its end. An exit code is a result; not being able to start is an error.
 * The environment is exactly what is given.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<ProgramResult> {
  // Loaded here: a cold read never starts a child and must not pay for being able to.
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const settings = {
      cwd: options.cwd,
      env: { ...options.env },
      encoding: 'utf8',
      maxBuffer: Number.POSITIVE_INFINITY,
      windowsHide: true,
    } as const;
    execFile(command, args, settings, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, stderr, exit: 0 });
      else if (typeof error.code === 'number') resolve({ stdout, stderr, exit: error.code });
      else reject(cannotRun(command, error));
    });
  });
}

/** The same on the terminal of this process. Keys that end a program are for the child: what it answers counts. */
export async function runOnTerminal(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<number> {
  const { spawn } = await import('node:child_process');
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd: options.cwd, env: { ...options.env }, stdio: 'inherit' });
      child.once('error', (error) => reject(cannotRun(command, error)));
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? INTERRUPTED : 1)));
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}

const INTERRUPTED = 130;

function cannotRun(command: string, error: Error): ForgeError {
  return new ForgeError('dependency_missing', `${command} could not be run: ${error.message}`, {
    cause: error,
  });
}
