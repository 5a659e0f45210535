import type { TrackerComment } from './tracker-task.ts';
import { readTime } from './tracker-time.ts';

const MARKER = /^<!-- (?:SECTION:[A-Z_]+|AC|DOD|COMMENTS):(?:BEGIN|END) -->$/;
const COMMENTS = /^## Comments[ \t]*\n+<!-- COMMENTS:BEGIN -->\n/im;
const COMMENTS_END = /<!-- COMMENTS:END -->\n?/i;
const COMMENT = '<!-- COMMENT:BEGIN -->\n';
const COMMENT_END = '<!-- COMMENT:END -->';

/** The body of a task file: Markdown without the marks of the tool, and the comments out of their section. */
export function readBody(body: string): { description: string; comments: TrackerComment[] } {
  const { text, section } = takeSection(body);
  return {
    description: text
      .split('\n')
      .filter((line) => !MARKER.test(line.trim()))
      .join('\n')
      .trim()
      .replace(/^## Description[ \t]*\n+/i, '')
      .replaceAll(/\n{3,}/g, '\n\n'),
    comments: listBlocks(section).map((block) => readComment(block.trim())),
  };
}

/** The section of the comments, and the text without it. */
function takeSection(body: string): { text: string; section: string } {
  const begin = COMMENTS.exec(body);
  if (begin === null) return { text: body, section: '' };
  const from = begin.index + begin[0].length;
  const rest = body.slice(from);
  const end = COMMENTS_END.exec(rest);
  if (end === null) return { text: body, section: '' };
  const text = `${body.slice(0, begin.index)}${rest.slice(end.index + end[0].length)}`;
  return { text, section: rest.slice(0, end.index) };
}

function listBlocks(section: string): string[] {
  const blocks: string[] = [];
  for (let begin = section.indexOf(COMMENT); begin !== -1;) {
    const end = section.indexOf(COMMENT_END, begin + COMMENT.length);
    if (end === -1) break;
    blocks.push(section.slice(begin + COMMENT.length, end));
    begin = section.indexOf(COMMENT, end + COMMENT_END.length);
  }
  return blocks;
}

/** `index`, `author` and `created` on lines of their own, an empty line, the text. */
function readComment(block: string): TrackerComment {
  const gap = /\n[ \t]*\n/.exec(block);
  const head = gap === null ? '' : block.slice(0, gap.index);
  const body = gap === null ? block : block.slice(gap.index + gap[0].length).trim();
  const find = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  return { author: find('author').replace(/^@/, ''), body, at: readTime(find('created')) };
}
