import type { EndState, Line } from './script-model.ts';

interface LabelEvent {
  readonly task: string;
  readonly label: string;
  readonly what: 'added' | 'removed';
  readonly clone: string;
  readonly number: number;
  /** The event before was done, or heard of, by the same clone. */
  readonly isLater: boolean;
  isDoubtful: boolean;
}

/** Who added and removed which label. What clones did that did not know of each other is not judged. */
export class LabelModel {
  readonly #events: LabelEvent[] = [];
  readonly #heard = new Map<string, number>();

  hears(clone: string): void {
    this.#heard.set(clone, this.#events.length);
  }

  changed(change: Pick<LabelEvent, 'task' | 'label' | 'what' | 'clone'>): LabelEvent {
    const before = this.#of(change.task, change.label).at(-1);
    const heard = this.#heard.get(change.clone) ?? 0;
    const events = this.#of(change.task, change.label);
    // A writer who takes out a label that was added once has seen that.
    const isSeen = events.filter(({ what }) => what === 'added').length < 2 && change.what === 'removed';
    const isLater = before === undefined || isSeen || before.clone === change.clone || before.number <= heard;
    const event = { ...change, number: this.#events.length + 1, isLater, isDoubtful: false };
    this.#events.push(event);
    return event;
  }

  /** A label that the clone knows to be removed, for one who adds it again. */
  findRemoved(task: string, clone: string): string | undefined {
    const heard = this.#heard.get(clone) ?? 0;
    const last = this.#events.findLast((event) => event.task === task && event.what === 'removed');
    return last !== undefined && (last.clone === clone || last.number <= heard) ? last.label : undefined;
  }

  /** Git brought a line back that may count as written anew: where it shows another state than the last, both may stand. */
  doubt(task: string, line: Line): void {
    const shown = new Set((line['labels'] ?? []) as string[]);
    for (const event of this.#events) {
      const last = this.#of(task, event.label).at(-1);
      if (event.task === task && shown.has(event.label) !== (last?.what === 'added')) event.isDoubtful = true;
    }
  }

  judge({ clone, tasks }: EndState): string[] {
    const groups = Map.groupBy(this.#events, ({ task, label }) => `${task} ${label}`);
    return [...groups.values()].flatMap((events) => {
      const last = events.at(-1);
      if (last === undefined || events.some((event) => event.isDoubtful || !event.isLater)) return [];
      const stands = ((tasks.get(last.task)?.['labels'] ?? []) as string[]).includes(last.label);
      if (stands === (last.what === 'added')) return [];
      return [
        `${clone}: the label ${last.label} of ${last.task} was ${last.what}, and is ${stands ? '' : 'not '}there`,
      ];
    });
  }

  #of(task: string, label: string): LabelEvent[] {
    return this.#events.filter((event) => event.task === task && event.label === label);
  }
}
