import { lineDigest } from '#kernel/checksum.ts';
import { readFileLines } from './read-file-lines.ts';

type WriteLine = (line: string | Uint8Array) => void;

/**
 * The file as it is, and after it only the lines that it does not hold as the newest of their task: what
 * `settings.gcOnExport: false` asks for. Returns what takes the export's lines.
 */
export function appendedLines(path: string, write: WriteLine): WriteLine {
  const newest = new Map<string, number>();
  const reader = readFileLines(path);
  for (const { text } of reader.lines) {
    write(text);
    newest.set(idOf(text), lineDigest(text));
  }
  for (const bytes of reader.damaged) write(bytes);
  return (line) => {
    // Lines that are no tasks stand in the file already.
    if (typeof line === 'string' && newest.get(idOf(line)) !== lineDigest(line)) write(line);
  };
}

function idOf(line: string): string {
  return line.startsWith('{"id":"') ? line.slice(7, line.indexOf('"', 7)) : line;
}
