import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '#contract/attempt.ts';
import type { OutputOf } from '#contract/declare.ts';
import type { runLogs as declaration } from '#contract/run-operations.ts';
import type { LogLine } from '#contract/transcript.ts';
import { isEnded } from '#domain/run-states.ts';
import { readLog } from '#executors/read-log.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement, type OperationContext } from './operation.ts';
import { findRunLog } from './run-log-place.ts';
import { logText, SHORT_ID, stateOf } from './run-text.ts';

type Page = OutputOf<typeof declaration>;

export const runLogs = implement<typeof declaration>({
  async run(ctx, { id, offset = 0, limit = LIMITS.log_page_default, follow = false }) {
    const run = await ctx.project.store.getRun(id);
    const start = { id: run.id, offset, limit };
    if (!follow) return readPage(ctx, start);
    return ctx.stays ? waitForPage(ctx, start) : followLog(ctx, start);
  },
  text(page) {
    const end = page.ended
      ? escapeLine(`The run is ${stateOf(page)}.`)
      : `More: forge runs logs ${page.run_id.slice(0, SHORT_ID)} --offset ${page.next_offset}`;
    return [...(page.followed ? [] : page.lines.map(logText)), end].join('\n');
  },
});

interface LogStart {
  readonly id: string;
  readonly offset: number;
  readonly limit: number;
}

/** The run is looked at before its log: what it wrote until it ended is then in the page. */
async function readPage({ project }: OperationContext, { id, offset, limit }: LogStart): Promise<Page> {
  const run = await project.store.getRun(id);
  const page = readLog({ path: findRunLog(project.paths, run), offset, limit });
  return {
    run_id: run.id,
    lines: [...page.lines],
    next_offset: page.next_offset,
    ended: page.end && isEnded(run.state),
    state: run.state,
    outcome: run.outcome,
    followed: false,
  };
}

/** For whoever asks a server again and again: until there is something, or for as long as a wait takes. */
async function waitForPage(ctx: OperationContext, start: LogStart): Promise<Page> {
  const until = ctx.clock.now() + LIMITS.wait_default_seconds * 1_000;
  for (;;) {
    const page = await readPage(ctx, start);
    const isOver = ctx.signal?.aborted === true || ctx.clock.now() >= until;
    if (page.lines.length > 0 || page.ended || isOver) return page;
    await sleep(LIMITS.wish_poll_ms);
  }
}

/** Each line is shown as it comes. The answer has the last of them, for those who want one document. */
async function followLog(ctx: OperationContext, start: LogStart): Promise<Page> {
  let lines: LogLine[] = [];
  let offset = start.offset;
  for (;;) {
    const page = await readPage(ctx, { ...start, offset });
    for (const line of page.lines.flatMap((one) => logText(one).split('\n'))) ctx.host.progress(line);
    lines = [...lines, ...page.lines].slice(-start.limit);
    offset = page.next_offset;
    if (page.ended || ctx.signal?.aborted === true) return { ...page, lines, followed: true };
    if (page.lines.length > 0) continue;
    await settleIfLost(ctx, start.id);
    await sleep(LIMITS.wish_poll_ms);
  }
}

/** Nobody would ever end a run whose watcher is gone, and whoever follows it would wait for good. */
async function settleIfLost(ctx: OperationContext, id: string): Promise<void> {
  const { store } = ctx.project;
  const watched = (await store.listOpenRuns()).find(({ run }) => run.id === id);
  if (watched === undefined || !isSilent(watched, ctx.clock.now())) return;
  await (await ctx.workshop()).place.settleLost();
}

const MISSED_BEATS = 3;

function isSilent({ run, beat_at }: { run: Run; beat_at: number | null }, now: number): boolean {
  return now - (beat_at ?? Date.parse(run.created_at)) > MISSED_BEATS * LIMITS.run_beat_ms;
}
