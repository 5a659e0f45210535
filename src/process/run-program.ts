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
      else
        reject(
          new ForgeError('dependency_missing', `${command} could not be run: ${error.message}`, {
            cause: error,
          }),
        );
    });
  });
}
