import { ForgeError } from '#kernel/errors.ts';

/** ASCII alone, so that its bytes are the same in every encoding of the files it stands in. */
export const ONBOARD_BLOCK = `<!-- forge:begin -->

## Tasks: Forge

This repository keeps its tasks in Forge, the \`forge\` command. This block is written by \`forge onboard\`.

- Run \`forge prime\` first in every session: who you are, your open work, what is ready, the rules.
- Take a task: \`forge claim --next --json\`. Read it: \`forge task show <id> --json\`.
- Note what others must know: \`forge task comment <id> "..."\`. Add work: \`forge task create "..."\`.
- Finish it: \`forge task close <id> --reason "..."\`. Give it back: \`forge release <id>\`.
- Never edit \`.forge/tasks.jsonl\` or the database by hand; task changes travel with your commits.

<!-- forge:end -->`;

export type BlockState = 'absent' | 'outdated' | 'current';

/**
 * All of these take a file's bytes as latin1, one character a byte, whatever its encoding is, and the file's name for
 * messages. They throw invalid_input where the markers are not one pair.
 */
export function readBlockState(text: string, name: string): BlockState {
  const block = findBlock(text, name);
  if (block === undefined) return 'absent';
  // Git may have checked the file out with other line ends than it was written with.
  const found = text.slice(block.start, block.end).replaceAll('\r\n', '\n');
  return found === ONBOARD_BLOCK ? 'current' : 'outdated';
}

/**
 * The text with the block of today: in its place, or else at the end. One line end goes before it there, always,
 * also into an empty file: so `withoutBlock` gives back every byte, and knows a file that Forge made.
 */
export function withBlock(text: string, name: string): string {
  const block = findBlock(text, name);
  // A lone CR at the end would become half of our line end, and be lost with it.
  const lineEnd = text.includes('\r\n') || text.endsWith('\r') ? '\r\n' : '\n';
  const written = ONBOARD_BLOCK.replaceAll('\n', lineEnd);
  if (block === undefined) return text + lineEnd + written + lineEnd;
  return text.slice(0, block.start) + written + text.slice(block.end);
}

/** A file that holds the block and nothing else: what Forge makes where there is none. */
export const NEW_FILE = `${ONBOARD_BLOCK}\n`;

/** The text as it was before `withBlock`; undefined where only Forge can have made the file. */
export function withoutBlock(text: string, name: string): string | undefined {
  const block = findBlock(text, name);
  if (block === undefined) return text;
  const before = text.slice(0, block.start);
  const after = text.slice(block.end).replace(/^\r?\n/, '');
  if (before === '' && after === '') return undefined;
  const kept = before.replace(/\r?\n$/, '');
  // Where text follows, the line end before the block may be all that parts the two.
  const parted = after === '' || kept === '' || kept === BOM || kept.endsWith('\n');
  return (parted ? kept : before) + after;
}

/** UTF-8's byte order mark, byte by byte. */
const BOM = '\u00ef\u00bb\u00bf';
const MARKER = /^[ \t]*<!--[ \t]*forge:(begin|end)[ \t]*-->[ \t]*$/;

interface Span {
  /** Where the line of the first marker begins, behind a byte order mark. */
  readonly start: number;
  /** Where the last marker ends, before its line end. */
  readonly end: number;
}

/** Markers count on lines of their own only: prose may speak of them. */
function findBlock(text: string, name: string): Span | undefined {
  const found: { kind: string; line: number; start: number; end: number }[] = [];
  let start = text.startsWith(BOM) ? BOM.length : 0;
  for (let line = 1; start < text.length; line += 1) {
    const next = text.indexOf('\n', start);
    const stop = next === -1 ? text.length : next;
    const end = text[stop - 1] === '\r' && stop > start ? stop - 1 : stop;
    const kind = MARKER.exec(text.slice(start, end))?.[1];
    if (kind !== undefined) found.push({ kind, line, start, end });
    start = stop + 1;
  }
  const [first, last] = found;
  if (first === undefined) return undefined;
  if (first.kind === 'begin' && last?.kind === 'end' && found.length === 2) {
    return { start: first.start, end: last.end };
  }
  const listed = found.slice(0, MOST_LISTED).map(({ kind, line }) => `forge:${kind} on line ${line}`);
  if (found.length > MOST_LISTED) listed.push(`${found.length - MOST_LISTED} more`);
  throw new ForgeError(
    'invalid_input',
    `${name} does not hold one Forge block from begin to end: ${listed.join(', ')}`,
    {
      hint: `Remove the lines that are too many from ${name}, then run forge onboard again`,
      details: { path: name, markers: found.map(({ kind, line }) => ({ kind, line })) },
    },
  );
}

const MOST_LISTED = 10;
