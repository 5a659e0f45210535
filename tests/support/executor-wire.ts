import { createInterface } from 'node:readline';

export type Json = Record<string, unknown>;

/** The agent's side of the protocols that Forge speaks, as small as a scenario needs it. */
export interface Dialect {
  /** Until the first prompt is there. */
  open(): Promise<{ readonly prompt: string; readonly resumed: string | undefined }>;
  say(text: string): void;
  /** Asks whether it may write a file, or run a command. */
  ask(what: Wish): Promise<boolean>;
  /** Asks and takes it back. */
  askInVain(what: Wish): void;
  report(wish: Wish, worked: boolean): void;
  /** What the user says while it works. */
  nextMessage(): Promise<string>;
  /** What the user says when it has finished. */
  nextTurn(): Promise<string>;
  /** Until the user has said something that the turn at work does not hear; only where a protocol can do that. */
  queue?(): Promise<void>;
  interrupted(): Promise<void>;
  /** Says in the middle of a turn what it has used. */
  spend?(): void;
  /** Has a file written and read again by the client; what came of it. */
  askClient?(path: string, text: string): Promise<string>;
  finish(end?: { readonly answer?: unknown }): void;
  fail(why: 'limit' | 'overload' | 'network' | 'auth' | 'crash'): void;
}

export type Wish = { readonly write: string; readonly padding?: number } | { readonly run: string };

/** Lines in, lines out. Whoever waits gets the next line that fits; the others wait for somebody else. */
export class Wire {
  readonly #seen: Json[] = [];
  readonly #waiting: { fits: (message: Json) => boolean; take: (message: Json) => void }[] = [];

  constructor() {
    createInterface({ input: process.stdin }).on('line', (line) => this.#take(JSON.parse(line) as Json));
  }

  write(message: Json): void {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }

  next(fits: (message: Json) => boolean): Promise<Json> {
    const at = this.#seen.findIndex(fits);
    const found = at < 0 ? undefined : this.#seen.splice(at, 1)[0];
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((take) => this.#waiting.push({ fits, take }));
  }

  #take(message: Json): void {
    const at = this.#waiting.findIndex(({ fits }) => fits(message));
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (waiting === undefined) this.#seen.push(message);
    else waiting.take(message);
  }
}

/** The words of a prompt, as Codex and ACP write them. */
export function toText(input: unknown): string {
  return (input as { text: string }[]).map(({ text }) => text).join('');
}
