import { stripVTControlCharacters } from 'node:util';
import type { RunUsage } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { WorkNews } from '#engine/work.ts';
import { describeEntry, SHORT_ID } from './run-text.ts';

/** Where a task stands in the work that somebody watches. */
export type Stage =
  | 'starting'
  | 'working'
  | 'asking'
  | 'done'
  | 'checking'
  | 'passed'
  | 'queued'
  | 'merging'
  | 'merged'
  | 'failed'
  | 'stopped';

export interface BoardRow {
  readonly id: string;
  title: string;
  stage: Stage;
  agent: string;
  /** When it was first heard of, and when last. */
  readonly since: number;
  heard_at: number;
  /** What was said last, by whoever is at work. */
  line: string;
  /** Of each run, because a program tells the sum of its own. */
  readonly usage: Map<string, RunUsage>;
}

/** Everything that one command works on, as the news tell it. */
export interface WorkBoard {
  readonly began: number;
  /** In the order they were begun. */
  readonly rows: Map<string, BoardRow>;
  /** Where those got to that were at work and are not any more; a task that comes back counts once. */
  readonly ended: Map<string, Stage>;
  readonly spent: Spent;
}

export interface Spent {
  tokens: number;
  cost_usd: number;
}

export function createBoard(now: number): WorkBoard {
  return { began: now, rows: new Map(), ended: new Map(), spent: { tokens: 0, cost_usd: 0 } };
}

/** Answers with the task whose row was begun by it. */
export function noteNews(board: WorkBoard, news: WorkNews, now: number): string | undefined {
  const id = taskOf(news);
  const known = board.rows.get(id);
  // A folder that is put away begins nothing.
  if (known === undefined && news.kind === 'attempt' && news.attempt.state !== 'active') return undefined;
  const row = known ?? createRow(id, now);
  board.rows.set(id, row);
  row.heard_at = now;
  apply(row, news);
  return known === undefined ? id : undefined;
}

/** Takes a row away, and keeps what it adds to the sum. */
export function endRow(board: WorkBoard, row: BoardRow): void {
  if (!board.rows.delete(row.id)) return;
  addSpent(board.spent, sumUsage(row));
  board.ended.set(row.id, row.stage);
}

export function isGood(stage: Stage): boolean {
  return stage === 'done' || stage === 'passed' || stage === 'merged';
}

export function addSpent(sum: Spent, { tokens, cost_usd }: Spent): void {
  sum.tokens += tokens;
  sum.cost_usd += cost_usd;
}

export function sumUsage({ usage }: Pick<BoardRow, 'usage'>): Spent {
  const sum = { tokens: 0, cost_usd: 0 };
  for (const { input_tokens, output_tokens, cost_usd } of usage.values()) {
    sum.tokens += (input_tokens ?? 0) + (output_tokens ?? 0);
    sum.cost_usd += cost_usd ?? 0;
  }
  return sum;
}

function createRow(id: string, now: number): BoardRow {
  return {
    id,
    title: '',
    stage: 'starting',
    agent: '',
    since: now,
    heard_at: now,
    line: '',
    usage: new Map(),
  };
}

function taskOf(news: WorkNews): string {
  switch (news.kind) {
    case 'attempt':
      return news.attempt.task_id;
    case 'run':
    case 'entry':
      return news.run.task_id;
    case 'review':
      return news.review.task_id;
    case 'merge':
      return news.merge.task_id;
    case 'step':
    case 'note':
      return news.task_id;
  }
}

function apply(row: BoardRow, news: WorkNews): void {
  switch (news.kind) {
    case 'attempt':
      // The news of its end come after all the others.
      if (news.attempt.state === 'active') row.agent = news.attempt.agent ?? row.agent;
      return;
    case 'run':
      return applyRun(row, news.run);
    case 'entry':
      return applyEntry(row, news.run, news.entry);
    case 'review':
      return applyReview(row, news.review);
    case 'merge':
      return applyMerge(row, news.merge);
    case 'step':
    case 'note':
      row.line = lastLine(news.text) ?? row.line;
  }
}

type NewsOf<Kind extends WorkNews['kind']> = Extract<WorkNews, { readonly kind: Kind }>;

function applyRun(row: BoardRow, run: NewsOf<'run'>['run']): void {
  row.agent = run.agent;
  if (hasUsage(run.usage)) row.usage.set(run.id, run.usage);
  if (run.state === 'cancelled' || run.outcome === 'stopped') row.stage = 'stopped';
  else if (run.state === 'failed' || run.state === 'blocked') row.stage = 'failed';
  else if (run.state === 'running') row.stage = 'working';
  else if (run.state === 'completed') row.stage = 'done';
  if (run.message !== null) row.line = lastLine(run.message) ?? row.line;
}

function applyEntry(row: BoardRow, run: NewsOf<'entry'>['run'], entry: TranscriptEntry): void {
  if (entry.kind === 'usage') {
    row.usage.set(run.id, entry.usage);
    return;
  }
  if (entry.kind === 'approval') row.stage = entry.decision === 'asked' ? 'asking' : 'working';
  row.line = lineOf(run, entry) ?? row.line;
}

function applyReview(row: BoardRow, { status, step_results }: NewsOf<'review'>['review']): void {
  row.stage = status === 'passed' ? 'passed' : status === 'running' ? 'checking' : 'failed';
  const last = step_results.at(-1);
  row.line = last === undefined ? '' : (lastLine(`${last.command}: ${last.outcome}`) ?? '');
}

function applyMerge(row: BoardRow, { state, target, message }: NewsOf<'merge'>['merge']): void {
  row.stage = MERGE_STAGES[state];
  row.line = lastLine(message ?? `${state === 'landed' ? 'on' : 'to'} ${target}`) ?? row.line;
}

const MERGE_STAGES: Readonly<Record<NewsOf<'merge'>['merge']['state'], Stage>> = {
  queued: 'queued',
  started: 'merging',
  landed: 'merged',
  conflict: 'failed',
  ci_failed: 'failed',
  refused: 'failed',
  dropped: 'stopped',
};

function hasUsage(usage: RunUsage): boolean {
  return Object.values(usage).some((count) => count !== null);
}

function lineOf(run: NewsOf<'entry'>['run'], entry: TranscriptEntry): string | undefined {
  switch (entry.kind) {
    case 'message':
      return entry.role === 'agent' ? lastLine(entry.text) : undefined;
    case 'thought':
    case 'output':
    case 'note':
      return lastLine(entry.text);
    case 'tool_result':
      // What was asked for says more than that it was done.
      return entry.is_error ? lastLine(`error: ${entry.text}`) : undefined;
    case 'approval':
      return entry.decision === 'asked'
        ? `asks for ${entry.tool}: forge runs approve ${run.id.slice(0, SHORT_ID)}`
        : describeEntry(entry);
    case 'tool_call':
    case 'usage':
    case 'error':
      return describeEntry(entry).slice(0, LONGEST);
  }
}

/** Nobody reads more of it than fits a line, and others may write megabytes. */
const LONGEST = 1_000;

function lastLine(text: string): string | undefined {
  // Colours that a program wrote for a terminal of its own say nothing here.
  return stripVTControlCharacters(text.slice(-LONGEST))
    .split(/[\r\n]+/)
    .findLast((line) => line.trim() !== '')
    ?.trim();
}
