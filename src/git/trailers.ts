/** Names and values in the order in which they stand at the end of a message. */
export type Trailers = Readonly<Record<string, string>>;

/**
 * The message with these trailers at its end, as `git interpret-trailers` would add them, and with no other line of
 * Forge's: what an agent writes in Forge's name is not Forge's word. The same message again where it was set before.
 */
export function setTrailers(message: string, trailers: Trailers): string {
  const body = dropForgeLines(message).trimEnd();
  const paragraphs = body.split(/\n\s*\n/);
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? '') : '';
  const isBlock = last !== '' && last.split('\n').every((line) => TRAILER.test(line));
  const lines = Object.entries(trailers).map(
    ([name, value]) => `${name}: ${value.replaceAll(/\s+/g, ' ').trim()}`,
  );
  const gap = isBlock ? '\n' : '\n\n';
  return `${body === '' ? NO_MESSAGE : body}${gap}${lines.join('\n')}\n`;
}

const TRAILER = /^(?:[A-Za-z0-9][A-Za-z0-9-]*:(?: |$)|\(cherry picked from commit |[ \t]+\S)/;

/** Wherever it stands: `git log --grep` looks at every line. With it goes what continues it. */
const FORGE_LINE = /^[ \t]*forge-[a-z0-9-]*[ \t]*[:=]/i;

/** The first paragraph of a message is never one of trailers, so one has to be there. */
const NO_MESSAGE = 'No message';

function dropForgeLines(message: string): string {
  let isDropping = false;
  const kept = message.split('\n').filter((line) => {
    isDropping = FORGE_LINE.test(line) || (isDropping && /^[ \t]+\S/.test(line));
    return !isDropping;
  });
  return kept.join('\n');
}
