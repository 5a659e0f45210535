import { readJson } from '#kernel/read-json.ts';
/** What another program sent is never what it should be: these look without believing. */

export type Fields = Readonly<Record<string, unknown>>;

export function parseFields(line: string): Fields | undefined {
  try {
    return toFields(readJson(line));
  } catch {
    return undefined;
  }
}

export function toFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** An empty object for everything that is none. */
export function fieldsOf(value: unknown): Fields {
  return toFields(value) ?? {};
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Tokens are whole and not below zero. */
export function countOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** The words of a content block, or of a list of them, as Anthropic, ACP and MCP write them. */
export function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(wordsOf).filter(Boolean).join('\n');
  const { text, type } = fieldsOf(content);
  if (typeof text === 'string') return text;
  return typeof type === 'string' ? `(${type})` : '';
}
