/** `12.3 MB`. */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let at = 0;
  for (; size >= 1_000 && at < units.length - 1; at += 1) size /= 1_000;
  return `${at === 0 ? size : size.toFixed(1)} ${units[at] ?? ''}`;
}
