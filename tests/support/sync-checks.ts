import { identityOf } from '#domain/identity.ts';
import { elementOf } from '#domain/join-records.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import { sameElement, sameJson } from '#domain/same-value.ts';
import { isDeleted } from '#domain/task-record.ts';
import type { Json } from '#kernel/json.ts';
import { findIllegality } from './record-steps.ts';
import type { Remote, SyncClone } from './sync-clone.ts';
import { readLines, type HandEdit } from './sync-hand-steps.ts';
import {
  describeFact,
  findMissing,
  keyOf,
  listFacts,
  listNews,
  readState,
  toState,
  type Fact,
  type SyncState,
} from './sync-state.ts';

/** What was acknowledged, and whether it is still there. */
export class SyncChecks {
  readonly failures: string[] = [];
  readonly told: string[] = [];
  writes = 0;
  readonly #clones: readonly SyncClone[];
  readonly #remote: Remote;
  /** Every acknowledged value by its place; a later write takes the place of an earlier one only in the file. */
  #acknowledged: (Fact & { readonly step: number })[] = [];
  #moves = new Map<string, number>();
  readonly #handEdits = new Map<SyncClone, { readonly known: SyncState; readonly edit: HandEdit }>();
  readonly #states = new Map<SyncClone, SyncState>();
  readonly #usedTimes = new Set<string>();
  readonly #unreadable = new Set<string>();
  readonly #published = new Set<string>();
  readonly #editedAway = new Set<string>();

  constructor(clones: readonly SyncClone[], remote: Remote) {
    this.#clones = clones;
    this.#remote = remote;
    for (const clone of clones) {
      clone.onMerge = (name, sides, merged) => {
        for (const side of sides) this.#expectMerged(clone, { name, side, merged });
      };
    }
  }

  /** A driver's file holds all of both sides by itself, whatever the stores know. */
  #expectMerged(
    clone: SyncClone,
    { name, side, merged }: { name: 'tasks' | 'history'; side: string; merged: string },
  ): void {
    const lines = side.split('\n').filter(isObject);
    if (name === 'history') {
      const known = new Set(merged.split('\n'));
      const lost = lines.filter((line) => !known.has(line));
      if (lost.length > 0) this.fail(`a merge in ${clone.name} lost the move ${lost[0]}`);
      return;
    }
    const after = toState(merged.split('\n').filter(isTaskLine), []);
    // A file may have several lines a task.
    const facts = lines.filter(isTaskLine).flatMap((line) => listFacts(toState([line], [])));
    for (const fact of findMissing(facts.filter(isNoReference), after)) {
      this.fail(`a merge in ${clone.name} lost ${describeFact(fact)}`);
    }
  }

  fail(why: string): void {
    this.failures.push(why);
  }

  /** Who makes two tasks in one millisecond with one id has made one task; that is not what is looked at here. */
  unusedTime(clone: SyncClone): number {
    let now = clone.now;
    while (this.#usedTimes.has(`${clone.name} ${now}`)) now += 1;
    this.#usedTimes.add(`${clone.name} ${now}`);
    return now;
  }

  noteWrites(clone: SyncClone, before: SyncState, after: SyncState): void {
    this.writes += 1;
    const step = this.told.length - 1;
    for (const fact of listNews(before, after)) this.#acknowledged.push({ ...fact, step });
    for (const move of after.moves) if (!before.moves.has(move)) this.#moves.set(move, step);
    this.#expectLegal(clone, after);
  }

  /** What a clone's store held after the last step that was looked at; only its own steps change it. */
  async readBefore(clone: SyncClone): Promise<SyncState> {
    return this.#states.get(clone) ?? readState(clone.store);
  }

  /** No step takes anything out of a store, whatever it does to the files. */
  async expectNothingLost(clone: SyncClone, before: SyncState, step: string): Promise<void> {
    const after = await readState(clone.store);
    this.#states.set(clone, after);
    for (const fact of findMissing(listFacts(before), after)) {
      this.fail(`${step} in ${clone.name} lost ${describeFact(fact)}`);
    }
    for (const move of before.moves) {
      if (!after.moves.has(move)) this.fail(`${step} in ${clone.name} lost the move ${move}`);
    }
    this.#expectLegal(clone, after);
  }

  #expectLegal(clone: SyncClone, state: SyncState): void {
    for (const record of state.tasks.values()) {
      const why = findIllegality(record);
      if (why !== undefined) this.fail(`${record.id} in ${clone.name} is ${why}`);
    }
  }

  /** Somebody removed a clone's store: what it alone held is gone, and not by our doing. Returns how much that is. */
  async forgetWhatWasRemoved(): Promise<number> {
    const holders = [this.#readRemote()];
    this.#states.clear();
    for (const clone of this.#clones) holders.push(await readState(clone.store));
    const kept = this.#acknowledged.filter((fact) =>
      holders.some((holder) => findMissing([fact], holder).length === 0),
    );
    const gone = this.#acknowledged.length - kept.length;
    this.#acknowledged = kept;
    for (const move of this.#moves.keys()) {
      if (!holders.some((holder) => holder.moves.has(move))) this.#moves.delete(move);
    }
    return gone;
  }

  #readRemote(): SyncState {
    const tree = this.#remote.branches.get('main')?.tree;
    const split = (text: string | undefined): string[] => (text ?? '').split('\n').filter(isObject);
    try {
      return toState(split(tree?.tasks), split(tree?.history));
    } catch {
      // Several lines a task, or lines that are no tasks: what others hold is known from their stores.
      return toState([], []);
    }
  }

  /** `known` is what the store held when the file was edited. */
  noteHandEdit(clone: SyncClone, known: SyncState, edit: HandEdit): void {
    if (edit.added !== undefined) this.#unreadable.add(edit.added);
    if (edit.removed !== undefined) this.#editedAway.add(edit.removed);
    this.#handEdits.set(clone, { known, edit });
  }

  /** Git may put another file in the place of the one that was edited. */
  forgetHandEdit(clone: SyncClone): void {
    this.#handEdits.delete(clone);
  }

  /** Of lines that are no tasks: once they are on the remote's main they stay, unless somebody takes them out. */
  async watchLines(clone: SyncClone, step: string, work: () => Promise<string>): Promise<string> {
    const before = clone.readWorkingTree().tasks?.split('\n') ?? [];
    const result = await work();
    if (step === 'revert') {
      const after = new Set(clone.readWorkingTree().tasks?.split('\n'));
      for (const line of before) if (!after.has(line)) this.#editedAway.add(line);
    }
    const published = this.#remote.branches.get('main')?.tree.tasks?.split('\n') ?? [];
    for (const line of published) if (this.#unreadable.has(line)) this.#published.add(line);
    return result;
  }

  /** A value that was changed under the stamp that the store knew must stand after the next command. */
  async expectHandEdit(clone: SyncClone): Promise<void> {
    const { known, edit } = this.#handEdits.get(clone) ?? {};
    this.#handEdits.delete(clone);
    if (known === undefined || edit?.before === undefined || edit.after === undefined) return;
    const was = decodeRecord(JSON.parse(edit.before) as Json);
    const is = decodeRecord(JSON.parse(edit.after) as Json);
    const task = identityOf(was).key;
    const base = known.tasks.get(task);
    const now = (await readState(clone.store)).tasks.get(task);
    const copies = readLines(clone).filter((line) => line.startsWith(`{"id":"${was.id}"`));
    if (base === undefined || now === undefined || copies.length > 1 || base.id !== was.id) return;
    for (const [name, register] of is.fields) {
      const old = was.fields.get(name);
      const stored = base.fields.get(name);
      const current = old?.stamp === stored?.stamp && sameElement(old?.value, stored?.value);
      if (!current || sameElement(old?.value, register.value)) continue;
      if (!sameJson(now.fields.get(name)?.value ?? null, register.value))
        this.fail(`the edit of ${name} of ${was.id} by hand is not in the store`);
    }
    for (const name of ['labels', 'metadata'] as const) {
      for (const key of new Set([...was[name].elements.keys(), ...is[name].elements.keys()])) {
        const [old, wanted, stored] = [was, is, base].map((record) => elementOf(record[name], key));
        const current = old?.stamp === stored?.stamp && sameElement(old?.value, stored?.value);
        if (!current || sameElement(old?.value, wanted?.value)) continue;
        if (!sameElement(elementOf(now[name], key).value, wanted?.value))
          this.fail(`the edit of ${name} ${key} of ${was.id} by hand is not in the store`);
      }
    }
  }

  async atEnd(): Promise<void> {
    await this.#expectSound();
    const states = await Promise.all(this.#clones.map((clone) => readState(clone.store)));
    const views = await Promise.all(this.#clones.map((clone, at) => readViews(clone, states[at])));
    const [first, ...others] = states;
    if (first === undefined) return;
    for (const [at, other] of others.entries()) {
      if (other.lines.join('\n') !== first.lines.join('\n')) this.fail('two stores export different lines');
      if (views[at + 1] !== views[0]) this.fail('two stores show different tasks');
    }
    for (const fact of findMissing(this.#acknowledged, first)) {
      const step = this.#acknowledged.find((one) => keyOf(one) === keyOf(fact))?.step;
      this.fail(`what step ${step} wrote is lost: ${describeFact(fact)}`);
    }
    for (const [move, step] of this.#moves) {
      if (!first.moves.has(move)) this.fail(`the move of step ${step} is lost: ${move}`);
    }
    const final = new Set(this.#clones[0]?.readWorkingTree().tasks?.split('\n'));
    for (const line of this.#published) {
      if (!this.#editedAway.has(line) && !final.has(line)) this.fail(`the line is lost: ${line}`);
    }
    await this.#rebuildAtEnd();
  }

  /** Nothing that happened is what the doctor would call a wrong database. */
  async #expectSound(): Promise<void> {
    for (const clone of this.#clones) {
      const { wrong } = await clone.store.diagnose(clone.now);
      const named = Object.entries(wrong).filter(([, found]) => found.length > 0);
      if (named.length > 0)
        this.fail(`the database of ${clone.name} is called wrong: ${JSON.stringify(named)}`);
    }
  }

  /** From the local replica and the file alone the same store comes back. One clone a sequence: it takes its time. */
  async #rebuildAtEnd(): Promise<void> {
    const clone = this.#clones[this.writes % this.#clones.length];
    if (clone === undefined) return;
    const before = clone.readWorkingTree();
    await clone.removeDatabase();
    await clone.fold();
    await clone.export();
    const after = clone.readWorkingTree();
    if (after.tasks !== before.tasks) this.fail(`a rebuilt store of ${clone.name} exports other tasks`);
    if (after.history !== before.history)
      this.fail(`a rebuilt store of ${clone.name} exports another history`);
  }
}

async function readViews(clone: SyncClone, state: SyncState | undefined): Promise<string> {
  const ids = [...(state?.tasks.values() ?? [])].filter((record) => !isDeleted(record)).map(({ id }) => id);
  const views = [];
  for (const id of ids.sort()) {
    // The version counts this store's own writes.
    const { version: _, ...view } = await clone.store.getTask(id);
    views.push(view);
  }
  return JSON.stringify(views);
}

/** Alone a line does not say which task another id of it means. */
function isNoReference({ place }: Fact): boolean {
  return !place.startsWith('dependencies ') && place !== 'field parent_id';
}

function isTaskLine(line: string): boolean {
  try {
    decodeRecord(JSON.parse(line) as Json);
    return true;
  } catch {
    return false;
  }
}

function isObject(line: string): boolean {
  return line.startsWith('{') && line.endsWith('}');
}
