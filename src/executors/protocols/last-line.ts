const MAX_LENGTH = 500;

/** The last line that says something, for a message. */
export function findLastLine(text: string): string | undefined {
  const line = text
    .split('\n')
    .map((one) => one.trim())
    .findLast((one) => one !== '');
  return line === undefined || line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH)}…`;
}
