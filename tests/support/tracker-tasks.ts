import { join } from 'node:path';
import { expect } from 'vitest';
import { encodeRecord } from '#domain/record-codec.ts';
import { readTrackerTasks, type TrackerTasks, type Tracker } from '#sync/read-tracker-tasks.ts';
import { tempFolder } from './temp-repo.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const FIXTURES = join(ROOT, 'tests/fixtures/import');
export const NOW = Date.UTC(2026, 8, 1);

export interface Line extends Record<string, unknown> {
  id: string;
  metadata: Record<string, unknown>;
  comments?: { author: string; body: string; created_at: string }[];
}

export function readFixture(tool: Tracker, path: string = tool): TrackerTasks {
  return readTrackerTasks(tool, join(FIXTURES, path), { idPrefix: 'fg', now: NOW });
}

function linesOf(read: TrackerTasks): Map<string, Line> {
  const lines = read.records.map((record) => JSON.parse(encodeRecord(record)) as Line);
  const byId = new Map(lines.map((line) => [line.id, line]));
  return new Map(
    [...read.ids].flatMap(([theirs, ours]) => {
      const line = byId.get(ours);
      return line === undefined ? [] : [[theirs, line] as const];
    }),
  );
}

/** The line that their task became. */
export function line(read: TrackerTasks, theirs: string): Line {
  const found = linesOf(read).get(theirs);
  expect(found, `${theirs} is in the import`).toBeDefined();
  return found as Line;
}

export async function readFiles(
  tool: Tracker,
  files: Readonly<Record<string, string>>,
  { now = NOW, idPrefix = 'fg' } = {},
): Promise<TrackerTasks> {
  await using folder = await tempFolder();
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  return readTrackerTasks(tool, folder.path, { idPrefix, now });
}

export function issue(more: Record<string, unknown>): string {
  return JSON.stringify({
    title: 'A title',
    status: 'open',
    priority: 2,
    issue_type: 'task',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-02T00:00:00Z',
    ...more,
  });
}

/** Lines of an issues.jsonl. */
export const readIssues = (...lines: string[]): Promise<TrackerTasks> =>
  readFiles('beads', { 'issues.jsonl': `${lines.join('\n')}\n` });
