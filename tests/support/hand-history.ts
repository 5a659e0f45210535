import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf } from '#domain/identity.ts';
import { decodeRecord, listLabels } from '#domain/record-codec.ts';
import { isSealed } from '#domain/record-seal.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import type { Json } from '#kernel/json.ts';
import { STANDARD, type HandMode } from './hand-modes.ts';
import { changeLifeByCommand, changeLifeByHand, lifeTextOf } from './hand-lives.ts';
import { HandOracle, valueOf, WATCHED, type Watched } from './hand-oracle.ts';
import { seededRandom, type Random } from './random.ts';
import { withSeededBytes } from './seeded-bytes.ts';
import { SyncChecks } from './sync-checks.ts';
import { makeRoot, SyncClone } from './sync-clone.ts';
import { PLAIN } from './sync-project.ts';
import { memoryFolder, SHORT_IDS } from './sync-sequence.ts';
import { readState } from './sync-state.ts';
import type { SyncWorld } from './sync-world.ts';

const NOON = Date.UTC(2026, 1, 10, 12);
const HOUR_MS = 3_600_000;

export interface HandHistoryOutcome {
  readonly failures: readonly string[];
  readonly falsely: readonly string[];
  readonly told: readonly string[];
  readonly edits: number;
}

/** Every third step is an edit of the task file by hand. */
export async function runHandHistory(
  seed: number,
  world: SyncWorld,
  mode: HandMode = STANDARD,
): Promise<HandHistoryOutcome> {
  const folder = await mkdtemp(join(memoryFolder(), 'forge-hand-'));
  const random = seededRandom(seed);
  const around = { world, remote: { branches: new Map() }, root: makeRoot(), numbers: { next: 0 } };
  const clones = mode.clones.map((name) => {
    const now = NOON + (random.below(5) - 2) * HOUR_MS * 24 * Number(random.oneIn(3));
    const modes = { driver: !random.oneIn(5), hooks: !random.oneIn(3), canonical: !random.oneIn(4) };
    return new SyncClone({ name, folder, now, isTracked: mode.isTracked, ...modes }, around);
  });
  const history = new HandHistory({ clones, mode, checks: new SyncChecks(clones, around.remote), random });
  try {
    for (const clone of clones) await clone.open();
    await withSeededBytes(seededRandom(seed), SHORT_IDS, () => history.run(12 + random.below(40)));
  } catch (error) {
    history.oracle.failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const clone of clones) await clone.close();
    await rm(folder, { recursive: true, force: true });
  }
  return {
    failures: history.oracle.failures,
    falsely: history.oracle.falsely,
    told: history.told,
    edits: history.edits,
  };
}

interface HandHistoryParts {
  readonly clones: readonly SyncClone[];
  readonly mode: HandMode;
  readonly checks: SyncChecks;
  readonly random: Random;
}

class HandHistory {
  readonly oracle = new HandOracle();
  readonly told: string[] = [];
  edits = 0;
  readonly #clones: readonly SyncClone[];
  readonly #mode: HandMode;
  readonly #checks: SyncChecks;
  readonly #random: Random;
  #number = 0;

  constructor({ clones, mode, checks, random }: HandHistoryParts) {
    this.#clones = clones;
    this.#mode = mode;
    this.#checks = checks;
    this.#random = random;
    for (const clone of clones) clone.onPop = ({ tasks }) => this.#popped(tasks ?? '');
  }

  async run(steps: number): Promise<void> {
    const [first] = this.#clones;
    if (first === undefined) return;
    for (let at = 0; at < 2; at += 1) await this.#create(first);
    await this.#mode.share(this.#clones, this.#random);
    for (let at = 0; at < steps && this.oracle.failures.length === 0; at += 1) {
      const clone = this.#random.pick(this.#clones);
      clone.now += this.#random.pick([0, 1, 60_000, HOUR_MS]);
      const told = at % 3 === 0 ? await this.#editByHand(clone) : await this.#do(clone);
      this.told.push(`${at} ${clone.name} ${told}`);
    }
    if (this.oracle.failures.length > 0) return;
    await this.#mode.settle(this.#clones, this.#checks);
    if (this.#checks.failures.length === 0) await this.#checks.atEnd();
    this.oracle.failures.push(...this.#checks.failures);
    if (this.oracle.failures.length > 0) return;
    for (const clone of this.#clones) this.oracle.looked(clone.name, await readState(clone.store));
    this.oracle.atEnd(await readState(first.store));
  }

  async #do(clone: SyncClone): Promise<string> {
    const kind = this.#random.below(10);
    if (kind < 4) return this.#mode.step(clone, this.#random);
    if (kind === 4) {
      await clone.removeDatabase();
      return 'removed the database';
    }
    await clone.fold();
    const state = await readState(clone.store);
    this.oracle.looked(clone.name, state);
    if (kind === 5) return this.#create(clone);
    if (kind === 6) return this.#changeLife(clone, this.#random.pick([...state.tasks.values()]));
    return this.#command(clone, this.#random.pick([...state.tasks.values()]));
  }

  async #create(clone: SyncClone): Promise<string> {
    clone.now = this.#checks.unusedTime(clone);
    const title = this.#next();
    const { id } = await clone.store.createTask({ ...PLAIN, title }, clone.by());
    const record = [...(await readState(clone.store)).tasks.values()].find((one) => one.id === id);
    if (record !== undefined)
      for (const name of ['title', 'life'] as const)
        this.oracle.wrote({ task: keyOf(record), name, how: 'created' }, valueOf(record, name), '');
    return `created ${id} ${title}`;
  }

  async #changeLife(clone: SyncClone, record: TaskRecord): Promise<string> {
    const task = keyOf(record);
    const told = await changeLifeByCommand(clone, { id: record.id, value: this.#next() }, this.#random);
    const after = (await readState(clone.store)).tasks.get(task);
    const saw = valueOf(record, 'life');
    const value = after === undefined ? saw : valueOf(after, 'life');
    if (value !== saw)
      this.oracle.wrote({ task, name: 'life', how: `a command in ${clone.name}` }, value, saw);
    return told;
  }

  async #command(clone: SyncClone, record: TaskRecord): Promise<string> {
    const { id } = record;
    const task = keyOf(record);
    const labels = listLabels(record);
    if (this.#random.oneIn(3)) {
      const removed = labels.length > 0 && this.#random.oneIn(2) ? this.#random.pick(labels) : undefined;
      const label = removed ?? this.#next();
      await clone.store.updateTask(
        { id, ...(removed === undefined ? { labels_add: [label] } : { labels_remove: [label] }) },
        clone.by(),
      );
      this.oracle.labelled(task, label, removed === undefined ? 'added' : 'removed');
      return `command ${id} label ${label}`;
    }
    const name = this.#random.pick(['title', 'description', 'metadata.hand'] as const);
    const value = this.#next();
    const change =
      name === 'metadata.hand' ? { metadata_set: new Map([['hand', value]]) } : { [name]: value };
    await clone.store.updateTask({ id, ...change }, clone.by());
    this.oracle.wrote({ task, name, how: `a command in ${clone.name}` }, value, valueOf(record, name));
    return `command ${id} ${name} ${value}`;
  }

  /** One line, one or two values of it; then mostly a command that looks. */
  async #editByHand(clone: SyncClone): Promise<string> {
    const file = await this.#mode.openFile(clone, this.#random);
    const lines = file?.lines ?? [];
    const found = lines.flatMap((text, at) => {
      const record = tryRead(text);
      return record === undefined || isDeleted(record) ? [] : [{ record, at }];
    });
    // A task on both sides of a conflict has two lines: what is taken out of one still stands in the other.
    const single = found.filter(
      ({ record }) => found.filter((one) => one.record.id === record.id).length === 1,
    );
    if (file === undefined || single.length === 0) return 'nothing to edit';
    const { record, at } = this.#random.pick(single);
    const line = JSON.parse(lines[at] ?? '') as Record<string, Json>;
    const told = [
      file.told,
      this.#change(line, record),
      this.#random.oneIn(3) ? this.#change(line, record) : '',
    ];
    file.write(lines.with(at, JSON.stringify(line)));
    this.edits += 1;
    if (this.#random.oneIn(2)) {
      await clone.fold();
      this.oracle.looked(clone.name, await readState(clone.store));
      told.push('and looked');
    }
    return `by hand ${record.id} ${told.join(' ')}`;
  }

  #change(line: Record<string, Json>, record: TaskRecord): string {
    const task = keyOf(record);
    const labels = (line.labels as string[] | undefined) ?? [];
    switch (this.#random.below(6)) {
      case 0: {
        const label = this.#next();
        line.labels = [...labels, label];
        this.oracle.labelled(task, label, 'added');
        return `label ${label}`;
      }
      case 1: {
        if (labels.length === 0) return 'no label';
        const label = this.#random.pick(labels);
        line.labels = labels.filter((one) => one !== label);
        this.oracle.labelled(task, label, 'removed');
        return `label ${label} removed`;
      }
      default:
        return this.#changeValue(line, { task, name: this.#random.pick(WATCHED) });
    }
  }

  #changeValue(line: Record<string, Json>, { task, name }: { task: string; name: Watched }): string {
    const value = this.#next();
    if (name === 'life') {
      const saw = lifeTextOf(line);
      changeLifeByHand(line, value, this.#random);
      this.oracle.wrote({ task, name, how: 'by hand' }, lifeTextOf(line), saw);
      return `life ${lifeTextOf(line)}`;
    }
    const metadata = (line.metadata ?? {}) as Record<string, Json>;
    const saw = name === 'metadata.hand' ? metadata.hand : line[name];
    if (name === 'metadata.hand') line.metadata = { ...metadata, hand: value };
    else line[name] = value;
    this.oracle.wrote({ task, name, how: 'by hand' }, value, typeof saw === 'string' ? saw : '');
    return `${name} ${value}`;
  }

  #popped(text: string): void {
    for (const line of text.split('\n')) {
      const record = isSealed(line) ? undefined : tryRead(line);
      if (record !== undefined) this.oracle.popped(keyOf(record), record);
    }
  }

  #next(): string {
    this.#number += 1;
    return `v${this.#number}`;
  }
}

function keyOf(record: TaskRecord): string {
  return identityOf(record).key;
}

function tryRead(text: string): TaskRecord | undefined {
  try {
    return decodeRecord(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}
