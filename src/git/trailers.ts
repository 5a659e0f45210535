/** Names and values in the order in which they stand at the end of a message. */
export type Trailers = Readonly<Record<string, string>>;

/** The message with those of the trailers that it lacks, as `git interpret-trailers` would add them. */
export function addTrailers(message: string, trailers: Trailers): string {
  const body = message.trimEnd();
  const paragraphs = body.split(/\n\s*\n/);
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? '') : '';
  const isBlock = last !== '' && last.split('\n').every((line) => TRAILER.test(line));
  const missing = Object.entries(trailers).filter(
    ([name]) => !isBlock || !new RegExp(`^${name}:`, 'im').test(last),
  );
  if (missing.length === 0) return `${body}\n`;
  const lines = missing.map(([name, value]) => `${name}: ${value.replaceAll(/\s+/g, ' ').trim()}`);
  const gap = body === '' ? '' : isBlock ? '\n' : '\n\n';
  return `${body}${gap}${lines.join('\n')}\n`;
}

const TRAILER = /^(?:[A-Za-z0-9][A-Za-z0-9-]*:(?: |$)|\(cherry picked from commit |[ \t]+\S)/;

/** Whether a message has all of them, with whatever values. */
export function hasTrailers(message: string, trailers: Trailers): boolean {
  return addTrailers(message, trailers) === `${message.trimEnd()}\n`;
}
