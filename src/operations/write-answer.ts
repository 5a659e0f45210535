import { setImmediate as otherTurn } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { TaskPosition } from '#store/store.ts';
import type { Portion } from './operation.ts';
import { toPlaceCursor, toTaskCursor } from './task-cursor.ts';

/** Other requests are served here; a test counts what is written in between. */
export type Pause = () => Promise<unknown>;

/**
 * JSON of an answer, a piece at a time: other requests are served in between, and what is too large is refused before
 * all of it stands in memory. The same text as that of JSON.stringify. Throws too_large.
 */
export async function writeAnswer(
  output: unknown,
  {
    bytes = LIMITS.answer_bytes,
    pause = otherTurn,
  }: { readonly bytes?: number; readonly pause?: Pause } = {},
): Promise<string> {
  const text = new PieceWriter(pause);
  for (const piece of toPieces(output ?? null, 0)) {
    if (text.add(piece)) await text.rest();
    if (text.bytes > bytes) throw tooLarge(bytes);
  }
  return text.end();
}

/** How a list with cursors is asked for. */
export interface PagedList {
  readonly ask: (
    page: { readonly limit: number; readonly cursor?: string },
    portion: Portion,
  ) => Promise<unknown>;
  readonly sort?: Parameters<typeof toTaskCursor>[1];
  readonly cursor?: string | undefined;
  readonly rows: number;
  /** From which size on the list ends early, or is refused. */
  readonly most: { readonly bytes: number; readonly beyond: 'end' | 'refuse' };
}

export interface WrittenPage {
  readonly body: string;
  readonly shown: readonly unknown[];
  /** Leads on where there is more. */
  readonly next?: string | undefined;
}

/**
 * Rows of a list as JSON, read in portions: a task may hold a megabyte, so that a number of rows says little about what
 * they take. A page has one row at least, however large that is. Throws too_large where the list may not end early.
 */
export async function writePage(list: PagedList, pause: Pause = otherTurn): Promise<WrittenPage> {
  const { rows, most } = list;
  const largest = most.beyond === 'end' ? LIMITS.answer_page_rows : LIMITS.answer_list_rows;
  const text = new PieceWriter(pause);
  const shown: unknown[] = [];
  const toPage = (next?: string): WrittenPage => ({ body: `[${text.end()}]`, shown, next });
  let cursor = list.cursor;
  for (let portion = Math.min(rows + 1, LIMITS.answer_first_rows); ;) {
    let rest: TaskPosition | undefined;
    const found = await list.ask(
      { limit: portion, ...(cursor !== undefined && { cursor }) },
      { max_bytes: LIMITS.list_read_bytes, goesOn: (after) => (rest = after) },
    );
    if (!Array.isArray(found)) return { body: await writeAnswer(found), shown: [] };
    for (const row of found as unknown[]) {
      const piece = JSON.stringify(row);
      const isOver = shown.length > 0 && text.bytes + Buffer.byteLength(piece) > most.bytes;
      if (isOver && most.beyond === 'refuse') throw tooLarge(most.bytes);
      if (isOver || shown.length === rows) return toPage(toTaskCursor(shown.at(-1), list.sort));
      if (text.add(shown.length === 0 ? piece : `,${piece}`)) await text.rest();
      shown.push(row);
    }
    const isCut = rest !== undefined;
    cursor = rest === undefined ? toTaskCursor(shown.at(-1), list.sort) : toPlaceCursor(rest, list.sort);
    if ((!isCut && found.length < portion) || cursor === undefined) return toPage();
    // As many as should fit, judged by those that are there; one more tells whether there is another page.
    const fitting = Math.ceil(((most.bytes - text.bytes) * shown.length) / Math.max(1, text.bytes));
    if (shown.length > 0)
      portion = Math.min(rows - shown.length, Math.max(1, Math.min(fitting, largest))) + 1;
    await text.rest();
  }
}

export function tooLarge(limit: number): ForgeError {
  return new ForgeError('too_large', `The answer has more than ${limit} bytes`, {
    hint: 'Ask for fewer rows with limit, or for one thing at a time',
    details: { limit },
  });
}

class PieceWriter {
  readonly #pieces: string[] = [];
  readonly #pause: Pause;
  #bytes = 0;
  #since = 0;

  constructor(pause: Pause) {
    this.#pause = pause;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True where it is time to let others go on. */
  add(piece: string): boolean {
    const bytes = Buffer.byteLength(piece);
    this.#bytes += bytes;
    this.#since += bytes;
    this.#pieces.push(piece);
    return this.#since >= LIMITS.answer_turn_bytes;
  }

  async rest(): Promise<void> {
    this.#since = 0;
    await this.#pause();
  }

  end(): string {
    return this.#pieces.join('');
  }
}

/** Of a list its rows, of an object its values; and the rows of lists in it. */
function* toPieces(value: unknown, depth: number): Generator<string> {
  if (Array.isArray(value) && depth < 2) {
    let comma = '[';
    for (const row of value as unknown[]) {
      yield comma;
      yield* toPieces(row ?? null, 2);
      comma = ',';
    }
    yield comma === '[' ? '[]' : ']';
    return;
  }
  if (depth > 0 || !isPlain(value)) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  let comma = '{';
  for (const [key, one] of Object.entries(value)) {
    if (one === undefined || typeof one === 'function' || typeof one === 'symbol') continue;
    yield `${comma}${JSON.stringify(key)}:`;
    yield* toPieces(one, 1);
    comma = ',';
  }
  yield comma === '{' ? '{}' : '}';
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value);
}
