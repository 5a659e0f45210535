/**
 * The home of the user, as `os.homedir` gives it. That part of Node is loaded only where the environment does not say:
 * a cold command has no other use for it.
 */
export function userHome(): string {
  const named = process.platform === 'win32' ? process.env['USERPROFILE'] : process.env['HOME'];
  return named ?? process.getBuiltinModule('node:os').homedir();
}
