/**
 * Starts a program that goes on when this one has ended, and that no process waits for or hears of. Only for what may as well
 * not happen: work that saves space.
 */
export function startAside(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): void {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(program, args, { cwd, env, detached: true, stdio: 'ignore', windowsHide: true });
  child.on('error', () => undefined);
  child.unref();
}
