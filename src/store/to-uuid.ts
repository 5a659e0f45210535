/** The same for the same text, everywhere: a UUID of version 8. */
export function toUuid(text: string): string {
  const hex = process.getBuiltinModule('node:crypto').hash('sha256', text);
  const [a, b, c, d, e] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
    hex.slice(20, 32),
  ];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}
