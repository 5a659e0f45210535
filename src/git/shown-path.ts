/** A path as it came from git, one character a byte, as text. */
export function toShownPath(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
