import type { CallToolResult } from '@modelcontextprotocol/server';
import { LIMITS } from '#kernel/limits.ts';
import { tooLarge, writeAnswer } from '#operations/write-answer.ts';

/**
 * The text is what `--json` prints, to the byte. Structured content has to be an object, so a list stands in one. Every
 * client reads the text; a large answer stands there alone, because the same once more would double what is sent.
 * Throws too_large for what was only read and takes more than any other answer may.
 */
export async function toToolResult(output: unknown, happened = true): Promise<CallToolResult> {
  const bytes = happened ? LIMITS.remote_answer_bytes : LIMITS.answer_bytes;
  const text = await writeAnswer(output, { bytes });
  return toTextResult(text, output, bytes);
}

/** The same for a text that is written already. */
export function toTextResult(
  text: string,
  output: unknown,
  bytes: number = LIMITS.answer_bytes,
): CallToolResult {
  checkQuoted(text, bytes);
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  return text.length > LIMITS.mcp_structured_length
    ? { content }
    : { content, structuredContent: toObject(output) };
}

/** A text stands in the answer as a string of JSON. Throws too_large where it takes more than it may so. */
export function checkQuoted(text: string, bytes: number = LIMITS.answer_bytes): void {
  if (Buffer.byteLength(text) + countEscapes(text) > bytes) throw tooLarge(bytes);
}

function toObject(output: unknown): Record<string, unknown> {
  const isObject = typeof output === 'object' && output !== null && !Array.isArray(output);
  return isObject ? { ...output } : { result: output };
}

/** JSON holds no other characters that have to be escaped in a string. */
function countEscapes(text: string): number {
  let count = 0;
  for (const mark of ['"', '\\'])
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) count += 1;
  return count;
}
