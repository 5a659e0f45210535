import type { TrackerComment } from './tracker-task.ts';
import { readTime } from './tracker-time.ts';

const MARKER = /^<!-- (?:SECTION:[A-Z_]+|AC|DOD|COMMENTS):(?:BEGIN|END) -->$/;
const COMMENTS = /^## Comments[ \t]*\n+<!-- COMMENTS:BEGIN -->\n([\s\S]*?)<!-- COMMENTS:END -->\n?/im;
const COMMENT = /<!-- COMMENT:BEGIN -->\n([\s\S]*?)<!-- COMMENT:END -->/g;

/** The body of a task file: Markdown without the marks of the tool, and the comments out of their section. */
export function readBody(body: string): { description: string; comments: TrackerComment[] } {
  const section = COMMENTS.exec(body);
  const text = section === null ? body : body.replace(section[0], '');
  return {
    description: text
      .split('\n')
      .filter((line) => !MARKER.test(line.trim()))
      .join('\n')
      .trim()
      .replace(/^## Description[ \t]*\n+/i, '')
      .replaceAll(/\n{3,}/g, '\n\n'),
    comments: [...(section?.[1] ?? '').matchAll(COMMENT)].map(([, block = '']) => readComment(block.trim())),
  };
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
