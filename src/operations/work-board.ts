import { stripVTControlCharacters } from 'node:util';
import type { RunUsage } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { WorkNews } from '#engine/work.ts';
import { describeEntry, SHORT_ID } from './run-text.ts';

/** Where a task, or one of several attempts at it, stands in the work that somebody watches. */
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
  | 'stopped'
  /** Another attempt was picked. */
  | 'archived';

export interface BoardRow {
  /** Of the task. */
  readonly id: string;
  /** What it is about; undefined as long as nothing of an attempt was heard. */
  attempt_id?: string | undefined;
  number?: number | undefined;
  /** Others stand beside it that are about the same task. */
  is_side?: boolean | undefined;
  title: string;
  stage: Stage;
  agent: string;
  /** When it was first heard of, and when last. */
  readonly since: number;
  heard_at: number;
  /** What was said last, by whoever is at work. */
  line: string;
  /** What its agent asks for, whole; undefined while it asks for nothing. */
  request?: string | undefined;
  /** Of each run, because a program tells the sum of its own. */
  readonly usage: Map<string, RunUsage>;
}

/** Everything that one command works on, as the news tell it. */
export interface WorkBoard {
  readonly began: number;
  /** In the order they were begun: the first of a task by its id, those of attempts beside it by both. */
  readonly rows: Map<string, BoardRow>;
  /** Where those got to that were at work and are not any more; a task that comes back counts once. */
  readonly ended: Map<string, Stage>;
  readonly spent: Spent;
}

export interface Spent {
  tokens: number;
  cost_usd: number;
  /** Part of the cost follows from a table of prices. */
  estimated: boolean;
  /** A program said what it used, and what that costs is not known. */
  unknown: boolean;
}

const NOTHING_SPENT: Readonly<Spent> = { tokens: 0, cost_usd: 0, estimated: false, unknown: false };

export function createBoard(now: number): WorkBoard {
  return { began: now, rows: new Map(), ended: new Map(), spent: { ...NOTHING_SPENT } };
}

/** Answers with the task whose row was begun by it. */
export function noteNews(board: WorkBoard, news: WorkNews, now: number): string | undefined {
  const { task_id, attempt_id } = subjectOf(news);
  const others = listRows(board, task_id);
  const known = findRow(others, attempt_id);
  // A folder that is put away begins nothing.
  if (known === undefined && news.kind === 'attempt' && news.attempt.state !== 'active') return undefined;
  const row = known ?? createRow(task_id, now);
  row.attempt_id ??= attempt_id;
  row.heard_at = now;
  apply(row, news);
  if (known !== undefined) return undefined;
  board.rows.set(others.length === 0 ? task_id : `${task_id} ${attempt_id}`, row);
  if (others.length > 0) for (const one of [row, ...others]) one.is_side = true;
  return task_id;
}

/** All that are about a task; several where attempts are side by side. */
export function listRows({ rows }: Pick<WorkBoard, 'rows'>, taskId: string): BoardRow[] {
  return [...rows.values()].filter(({ id }) => id === taskId);
}

/** What is about no attempt is told in the first row of its task. */
function findRow(rows: readonly BoardRow[], attemptId: string | undefined): BoardRow | undefined {
  if (attemptId === undefined) return rows[0];
  return (
    rows.find(({ attempt_id }) => attempt_id === attemptId) ??
    rows.find(({ attempt_id }) => attempt_id === undefined)
  );
}

/** Takes a row away, and keeps what it adds to the sum. */
export function endRow(board: WorkBoard, row: BoardRow): void {
  const key = [...board.rows].find(([, one]) => one === row)?.[0];
  if (key === undefined) return;
  board.rows.delete(key);
  addSpent(board.spent, sumUsage(row));
  // Of several attempts at a task the best one says how far it got.
  const before = row.is_side === true ? board.ended.get(row.id) : undefined;
  if (row.stage === 'archived' || (before !== undefined && isGood(before))) return;
  board.ended.set(row.id, row.stage);
}

export function isGood(stage: Stage): boolean {
  return stage === 'done' || stage === 'passed' || stage === 'merged';
}

export function addSpent(sum: Spent, { tokens, cost_usd, estimated, unknown }: Spent): void {
  sum.tokens += tokens;
  sum.cost_usd += cost_usd;
  sum.estimated ||= estimated;
  sum.unknown ||= unknown;
}

export function sumUsage({ usage }: Pick<BoardRow, 'usage'>): Spent {
  const sum = { ...NOTHING_SPENT };
  for (const { input_tokens, output_tokens, cost_usd, cost_source } of usage.values()) {
    const tokens = (input_tokens ?? 0) + (output_tokens ?? 0);
    const estimated = cost_source === 'estimated';
    addSpent(sum, { tokens, cost_usd: cost_usd ?? 0, estimated, unknown: cost_usd === null && tokens > 0 });
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

interface Subject {
  readonly task_id: string;
  readonly attempt_id?: string | undefined;
}

function subjectOf(news: WorkNews): Subject {
  switch (news.kind) {
    case 'attempt':
      return { task_id: news.attempt.task_id, attempt_id: news.attempt.id };
    case 'run':
    case 'entry':
      return news.run;
    case 'review':
      return { ...news.review, attempt_id: news.review.attempt_id ?? undefined };
    case 'merge':
      return news.merge;
    case 'step':
    case 'note':
      return news;
  }
}

function apply(row: BoardRow, news: WorkNews): void {
  switch (news.kind) {
    case 'attempt':
      return applyAttempt(row, news.attempt);
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

/** The news of its end come after all the others; only where another was picked they say more than those. */
function applyAttempt(row: BoardRow, { state, agent, number }: NewsOf<'attempt'>['attempt']): void {
  row.number = number;
  if (state === 'active') row.agent = agent ?? row.agent;
  else if (state === 'archived' && row.is_side === true) row.stage = 'archived';
}

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
  if (entry.kind === 'approval') {
    row.stage = entry.decision === 'asked' ? 'asking' : 'working';
    row.request = entry.decision === 'asked' ? (entry.request ?? entry.tool) : undefined;
  }
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
  postponed: 'queued',
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
      // What it asks for has lines of its own.
      return entry.decision === 'asked'
        ? `forge runs approve ${run.id.slice(0, SHORT_ID)}`
        : describeEntry(entry).slice(0, LONGEST);
    case 'tool_call':
    case 'usage':
    case 'error':
      return describeEntry(entry).slice(0, LONGEST);
  }
}

/** What is asked for, with the command that allows it; or what became of it. */
export function describeApproval(
  { id }: NewsOf<'entry'>['run'],
  entry: Extract<TranscriptEntry, { kind: 'approval' }>,
): string {
  if (entry.decision !== 'asked') return describeEntry(entry);
  return `asks for ${entry.request ?? entry.tool} -- forge runs approve ${id.slice(0, SHORT_ID)}`;
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
