import { fieldValue, isDeleted, type Life, type TaskRecord } from '#domain/task-record.ts';
import { listLabels } from '#domain/record-codec.ts';
import type { Json } from '#kernel/json.ts';
import { toLifeText } from './hand-lives.ts';
import type { SyncState } from './sync-state.ts';

/** A value that a person wrote, by command or by hand, and all that was written before it to its knowledge. */
interface Write {
  readonly value: string;
  readonly before: ReadonlySet<Write>;
  readonly how: string;
  /** More writes than one had this value: nobody can tell which of them stands, or was seen. */
  readonly isAgain: boolean;
}

/**
 * The places that are watched: each write has a value that no other has, but for a task that is given back. `life` is
 * status, owner and reason of closing.
 */
export const WATCHED = ['title', 'description', 'sprint', 'metadata.hand', 'life'] as const;
export type Watched = (typeof WATCHED)[number];

/**
 * Knows of every write what it was made upon: a command upon what the store showed, an edit by hand upon what the
 * line showed. A value that was written over must never stand again: in no clone that has shown the later one, and
 * nowhere in the end. It knows nothing of stamps, seals and digests.
 */
export class HandOracle {
  readonly failures: string[] = [];
  /** Told as lost, though a writer who saw them wrote others. Lives carry no notes of that (docs/sync.md). */
  readonly falsely: string[] = [];
  readonly #writes = new Map<string, Write>();
  readonly #shown = new Map<string, Set<Write>>();
  readonly #labels = new Map<string, 'added' | 'removed'>();

  /** `saw` is what stood there before the eyes of who wrote it. */
  wrote(place: { task: string; name: Watched; how: string }, value: string, saw: string): void {
    const { task, name, how } = place;
    const known = this.#writes.get(`${task}\0${name}\0${saw}`);
    const again = this.#writes.get(`${task}\0${name}\0${value}`);
    const seen = known === undefined || known.isAgain ? [] : [known, ...known.before];
    const before = new Set<Write>([...seen, ...(again?.before ?? [])]);
    this.#writes.set(`${task}\0${name}\0${value}`, { value, before, how, isAgain: again !== undefined });
  }

  labelled(task: string, label: string, what: 'added' | 'removed'): void {
    this.#labels.set(`${task}\0${label}`, what);
  }

  /**
   * A stash brought an edited line back: git leaves no trace that tells that from an edit, so it may count as the edit
   * made again, over all that was written since.
   */
  popped(task: string, line: TaskRecord): void {
    for (const name of WATCHED) {
      const key = `${task}\0${name}\0${valueOf(line, name)}`;
      const known = this.#writes.get(key);
      if (known !== undefined) this.#writes.set(key, { ...known, how: `${known.how}, and from a stash` });
    }
    const labels = new Set(listLabels(line));
    for (const [key, what] of this.#labels) {
      const [owner, label = ''] = key.split('\0');
      if (owner === task && labels.has(label) !== (what === 'added')) this.#labels.delete(key);
    }
  }

  /** What a clone shows after a command. */
  looked(clone: string, state: SyncState): void {
    for (const [task, record] of state.tasks) {
      for (const name of WATCHED) {
        const write = this.#writes.get(`${task}\0${name}\0${valueOf(record, name)}`);
        if (write === undefined || write.isAgain) continue;
        const key = `${clone}\0${task}\0${name}`;
        const shown = this.#shown.get(key) ?? new Set();
        const later = [...shown].find((one) => one.before.has(write));
        if (later !== undefined)
          this.failures.push(
            `${clone} shows ${name} ${write.value} (${write.how}) of ${record.id} again, after ${later.value} (${later.how})`,
          );
        this.#shown.set(key, shown.add(write));
      }
    }
  }

  /** Each value stands, or a writer who saw it wrote another, or it is shown to have lost. */
  #expectKept(record: TaskRecord, name: Watched, writes: readonly Write[]): void {
    const lost = listLost(record, name);
    const replaced = new Set(writes.flatMap((write) => [...write.before].map(({ value }) => value)));
    const again = new Set(writes.flatMap(({ value, isAgain }) => (isAgain ? [value] : [])));
    for (const value of lost)
      if (name !== 'life' && typeof value === 'string' && replaced.has(value))
        this.falsely.push(
          `${name} ${JSON.stringify(value)} of ${record.id} is told as lost, though a writer who saw it replaced it`,
        );
    for (const { value, how } of writes) {
      if (again.has(value) || value === valueOf(record, name)) continue;
      if (replaced.has(value) || lost.has(value)) continue;
      this.failures.push(`${name} ${value} (${how}) of ${record.id} is gone, and nobody is told`);
    }
  }

  atEnd(state: SyncState): void {
    for (const [task, record] of state.tasks) {
      if (isDeleted(record)) continue;
      for (const name of WATCHED) {
        const value = valueOf(record, name);
        const stands = this.#writes.get(`${task}\0${name}\0${value}`);
        const writes = [...this.#writes].filter(([key]) => key.startsWith(`${task}\0${name}\0`));
        const over = writes.find(([, write]) => stands?.isAgain === false && write.before.has(stands))?.[1];
        if (over !== undefined)
          this.failures.push(
            `${name} of ${record.id} is ${value}, though ${over.value} (${over.how}) was written over it`,
          );
        if (stands === undefined && writes.some(([, write]) => write.before.size > 0 || value === ''))
          this.failures.push(`${name} of ${record.id} is ${value}, which was written over`);
        this.#expectKept(
          record,
          name,
          writes.map(([, write]) => write),
        );
      }
      const labels = new Set(listLabels(record));
      for (const [key, what] of this.#labels) {
        const [owner, label = ''] = key.split('\0');
        if (owner === task && labels.has(label) !== (what === 'added'))
          this.failures.push(
            `the label ${label} of ${record.id} was ${what}, and is ${labels.has(label) ? 'there' : 'not there'}`,
          );
      }
    }
  }
}

/** The values of one place that lost a merge, as `forge conflicts` shows them. */
function listLost(record: TaskRecord, name: Watched): Set<Json> {
  const lost = [...record.conflicts.elements].filter(([key]) => key.startsWith(`${name}@`));
  const values = lost.flatMap(([, { value }]) => (value === undefined ? [] : [value]));
  return new Set(name === 'life' ? values.map((value) => toLifeText(value as unknown as Life)) : values); // see lifeValue
}

export function valueOf(record: TaskRecord, name: Watched): string {
  if (name === 'life') return toLifeText(record.life);
  const value =
    name === 'metadata.hand' ? record.metadata.elements.get('hand')?.value : fieldValue(record, name);
  return typeof value === 'string' ? value : '';
}
