import { countOf, textOf, type Fields } from './fields.ts';

interface Sent {
  readonly uuid: string;
  readonly text: string;
  readonly what: 'prompt' | 'message';
}

type State = 'sent' | 'started' | 'answered' | 'dropped';

/**
 * What was said to Claude, and what has become of it. A result counts queued messages, but one that comes while the
 * last answer is written is not in that count: it is told apart by its name, which Claude says again when it begins
 * with it and in the result of the turn that answered it.
 */
export class ClaudeMessages {
  readonly #sent = new Map<string, Sent & { state: State }>();
  /** Those of an older Claude are not named: then its count is all there is. */
  #isNamed = false;
  #queued = 0;

  add(sent: Sent): void {
    this.#sent.set(sent.uuid, { ...sent, state: 'sent' });
  }

  noteResult(result: Fields): void {
    this.#queued = countOf(result['queued_turn_count']) ?? 0;
    const listed = result['user_message_uuids'];
    const uuids = Array.isArray(listed) ? listed : [result['user_message_uuid']];
    for (const uuid of uuids) this.#note(textOf(uuid), 'answered');
    // The first result is of the prompt; what a turn has begun with and does not list went down with it.
    for (const one of this.#sent.values())
      if (one.state === 'started' || one.what === 'prompt') one.state = 'answered';
  }

  /** Whether nothing more will come of a message that the last result left open. */
  noteState(uuid: string | undefined, state: string | undefined): boolean {
    switch (state ?? '') {
      case 'queued':
        this.#isNamed = true;
        return false;
      case 'started':
        this.#queued = 0;
        this.#note(uuid, 'started');
        return false;
      case 'cancelled':
      case 'discarded':
      case 'refused':
        this.#note(uuid, 'dropped');
        return !this.#isAtWork() && !this.areOpen();
      default:
        return false;
    }
  }

  /** Whether a further turn is to come. */
  areOpen(): boolean {
    if (!this.#isNamed) return this.#queued > 0;
    return [...this.#sent.values()].some(({ state }) => state === 'sent' || state === 'started');
  }

  /** What it never began with. The prompt is none of them: it is said again anyway. */
  unheard(): readonly string[] {
    if (!this.#isNamed) return [];
    const left = [...this.#sent.values()].filter(({ state }) => state === 'sent' || state === 'dropped');
    return left.filter(({ what }) => what === 'message').map(({ text }) => text);
  }

  #isAtWork(): boolean {
    return [...this.#sent.values()].some(({ state }) => state === 'started');
  }

  #note(uuid: string | undefined, state: State): void {
    const known = uuid === undefined ? undefined : this.#sent.get(uuid);
    if (known === undefined) return;
    this.#isNamed = true;
    known.state = state;
  }
}
