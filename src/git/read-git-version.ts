import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

/** `2.39.5`; what comes after the numbers depends on who built it. */
export async function readGitVersion(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { stdout } = await runGit(['--version'], { cwd, env: gitEnvironment(env) });
  return /(?<!\d)\d{1,9}(?:\.\d{1,9}){1,9}/.exec(stdout)?.[0] ?? '0.0';
}
