import type { WorkNews } from '#engine/work.ts';
import type { Workshop } from '#engine/workshop.ts';
import { LIMITS } from '#kernel/limits.ts';
import { boardLines, endedLine, sumLine } from './board-lines.ts';
import type { OperationContext, Screen } from './operation.ts';
import { createBoard, endRow, listRows, noteNews, type BoardRow, type WorkBoard } from './work-board.ts';
import { createNewsLines } from './worked-text.ts';

/** Shows what happens in a workshop until the answer is called: as a picture on a terminal, else line by line. */
export async function watchWork(
  ctx: OperationContext,
  workshop: Workshop,
  times: Partial<Times> = {},
): Promise<() => void> {
  const { host } = ctx;
  const screen = await host.openScreen?.();
  const toLine = createNewsLines();
  const tell = (news: WorkNews): void => {
    const line = toLine(news);
    if (line !== undefined) host.progress(line);
  };
  if (screen === undefined) return workshop.listen(tell);
  const board = showBoard(ctx, { screen, workshop, times });
  const stop = workshop.listen((news) => {
    // What somebody should know must not pass by in a picture.
    if (!screen.is_output || news.kind === 'note') tell(news);
    board.note(news);
  });
  return () => {
    stop();
    board.close();
  };
}

/** Shorter ones for tests. */
interface Times {
  readonly clock_ms: number;
  readonly rest_ms: number | undefined;
}

interface Shown {
  readonly note: (news: WorkNews) => void;
  readonly close: () => void;
}

function showBoard(
  { clock, host }: OperationContext,
  {
    screen,
    workshop,
    times: { clock_ms = LIMITS.screen_clock_ms, rest_ms = LIMITS.screen_row_rest_ms },
  }: { readonly screen: Screen; readonly workshop: Workshop; readonly times: Partial<Times> },
): Shown {
  const board = createBoard(clock.now());
  const print = (line: string): void => (screen.is_output ? host.progress(line) : host.notice(line));
  const show = (): void => screen.show((size) => boardLines(board, { ...size, now: clock.now() }));
  const end = (isOver: (row: BoardRow) => boolean): void => {
    for (const row of [...board.rows.values()].filter(isOver)) {
      endRow(board, row);
      print(endedLine(row));
    }
  };
  const timer = setInterval(() => {
    const before = clock.now() - rest_ms;
    // Between two steps of a task nobody is at work on it for a moment.
    end(({ id, heard_at, stage }) => stage === 'archived' || (!workshop.isAtWork(id) && heard_at < before));
    show();
  }, clock_ms).unref();
  return {
    note(news) {
      const begun = noteNews(board, news, clock.now());
      if (begun !== undefined) addTitle(board, workshop, begun).then(show, () => undefined);
      show();
    },
    close() {
      clearInterval(timer);
      end(() => true);
      screen.close();
      if (board.ended.size > 0) print(sumLine(board, clock.now()));
    },
  };
}

async function addTitle(board: WorkBoard, { place }: Workshop, id: string): Promise<void> {
  const { title } = await place.store.getTask(id);
  for (const row of listRows(board, id)) row.title = title;
}
