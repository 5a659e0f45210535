import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { RunEnd, RunSpec, SessionCounts } from '#executors/executor.ts';

export const RECORDINGS = fileURLToPath(new URL('../fixtures/agents/', import.meta.url));

/** A conversation with a real agent CLI: what was asked, every line in its order, and what became of it. */
export interface Recording {
  readonly head: RecordingHead;
  readonly lines: readonly RecordedLine[];
  /** As Forge told them at the time; adjoining pieces of one text are one. */
  readonly entries: readonly TranscriptEntry[];
  readonly end: RunEnd;
}

export interface RecordingHead {
  readonly executor: string;
  readonly cli: string;
  readonly version: string;
  readonly scenario: string;
  readonly spec: Omit<RunSpec, 'env' | 'limits'>;
  /** What a person answered to every question. */
  readonly answer: 'allowed' | 'denied';
  readonly stopped: boolean;
  readonly forge: string;
  readonly now: number;
  /** What the agent's own books said when its session was opened, and at the end. */
  readonly books?: { readonly before: SessionCounts; readonly after: SessionCounts };
}

export interface RecordedLine {
  readonly from: 'agent' | 'forge';
  readonly line: unknown;
}

export function listRecordings(): readonly string[] {
  return readdirSync(RECORDINGS)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => basename(name, '.jsonl'))
    .toSorted();
}

/** The head, a line of the conversation each, and the end with its entries. */
export function readRecording(name: string): Recording {
  const [head, ...rest] = readFileSync(join(RECORDINGS, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const { entries, end } = rest.pop() as Pick<Recording, 'entries' | 'end'>;
  return { head: head as RecordingHead, lines: rest as RecordedLine[], entries, end };
}

export function toRecordingText({ head, lines, entries, end }: Recording): string {
  return [head, ...lines, { entries, end }].map((one) => `${JSON.stringify(one)}\n`).join('');
}

/**
 * What a protocol told: without the user's words, the answers of people and what came on standard error, which are
 * not the protocol's; and without the pauses, which depend on how fast the machine was.
 */
export function toProtocolEntries(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const merged: TranscriptEntry[] = [];
  for (const entry of entries.filter(isOfProtocol)) {
    const last = merged.at(-1);
    const goesOn =
      last !== undefined && 'text' in last && 'text' in entry && isPiece(entry) && last.kind === entry.kind;
    if (goesOn) merged.splice(-1, 1, { ...last, text: last.text + entry.text });
    else merged.push(entry);
  }
  return merged;
}

function isOfProtocol(entry: TranscriptEntry): boolean {
  if (entry.kind === 'message') return entry.role === 'agent';
  return entry.kind !== 'approval' && !(entry.kind === 'output' && entry.stream === 'stderr');
}

function isPiece(entry: TranscriptEntry): boolean {
  return entry.kind === 'message' || entry.kind === 'thought';
}
