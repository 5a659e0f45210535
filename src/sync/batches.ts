import { join } from 'node:path';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import {
  changeHomeFile,
  type HomeLine,
  parseHomeLines,
  readHomeFile,
  toHomeLine,
  toHomeText,
} from './home-file.ts';

/** Tasks of one or more projects that are followed together. */
export interface Batch {
  readonly name: string;
  readonly tasks: readonly BatchTask[];
  readonly created_at: string;
  /** Null while it is followed. */
  readonly closed_at: string | null;
}

export interface BatchTask {
  readonly id: string;
  /** The project's name when the task was added. */
  readonly project: string;
  /** Where that project was then: it need not be registered. */
  readonly path: string;
}

const FILE = 'batches.jsonl';

/** In the order they were made. */
export function listBatches(home: string): Batch[] {
  return readBatches(parseHomeLines(readHomeFile(home, FILE), join(home, FILE)), home).map(
    ({ batch }) => batch,
  );
}

/** Throws not_found. */
export function getBatch(home: string, name: string): Batch {
  const batches = listBatches(home);
  return batches.find((batch) => batch.name === name) ?? refuseUnknown(name, batches);
}

/** Not idempotent: throws already_exists for a name that is taken. */
export function createBatch(
  home: string,
  { name, tasks, now }: { name: string; tasks: readonly BatchTask[]; now: number },
): Promise<Batch> {
  return changeHomeFile(home, FILE, (text) => {
    const lines = parseHomeLines(text, join(home, FILE));
    if (readBatches(lines, home).some(({ batch }) => batch.name === name)) {
      throw new ForgeError('already_exists', `There is a batch ${JSON.stringify(name)} already`, {
        hint: `forge batch add ${JSON.stringify(name)} <ids...>`,
        details: { name },
      });
    }
    refuseFull(home, lines, tasks.length, 1);
    const batch = { name, tasks: withoutDoubles(tasks), created_at: toIso(now), closed_at: null };
    return { text: toHomeText([...lines, toHomeLine(toValue(batch))]), answer: batch };
  });
}

/** Idempotent: a task that is in the batch already stays once. Throws not_found, and state_invalid for a closed batch. */
export function addToBatch(
  home: string,
  { name, tasks }: { name: string; tasks: readonly BatchTask[] },
): Promise<{ batch: Batch; added: readonly string[] }> {
  return changeBatch(home, name, (batch) => {
    if (batch.closed_at !== null) {
      throw new ForgeError('state_invalid', `Batch ${JSON.stringify(name)} is closed`, {
        hint: 'forge batch create <another name> <ids...>',
        details: { name, closed_at: batch.closed_at },
      });
    }
    const all = withoutDoubles([...batch.tasks, ...tasks]);
    const changed = { ...batch, tasks: all };
    return {
      batch: changed,
      answer: { batch: changed, added: all.slice(batch.tasks.length).map(({ id }) => id) },
    };
  });
}

/** Idempotent: a closed batch stays closed as of then. Throws not_found. */
export function closeBatch(home: string, { name, now }: { name: string; now: number }): Promise<Batch> {
  return changeBatch(home, name, (batch) => {
    const closed = { ...batch, closed_at: batch.closed_at ?? toIso(now) };
    return { batch: closed, answer: closed };
  });
}

function changeBatch<T>(
  home: string,
  name: string,
  change: (batch: Batch) => { batch: Batch; answer: T },
): Promise<T> {
  return changeHomeFile(home, FILE, (text) => {
    const lines = parseHomeLines(text, join(home, FILE));
    const all = readBatches(lines, home);
    const known =
      all.find(({ batch }) => batch.name === name) ??
      refuseUnknown(
        name,
        all.map(({ batch }) => batch),
      );
    const { batch, answer } = change(known.batch);
    const more = batch.tasks.length - known.batch.tasks.length;
    if (more > 0) refuseFull(home, lines, more, 0);
    const line = toHomeLine({ ...known.value, ...toValue(batch) });
    return { text: toHomeText(lines.with(known.at, line)), answer };
  });
}

/** A list of the batches looks all of their tasks up: what a token may add to them has an end. */
function refuseFull(home: string, lines: readonly HomeLine[], tasks: number, batches: number): void {
  const all = readBatches(lines, home).map(({ batch }) => batch);
  const count = all.reduce((sum, batch) => sum + batch.tasks.length, tasks);
  const path = join(home, FILE);
  if (all.length + batches <= LIMITS.batches && count <= LIMITS.batches_tasks) return;
  throw new ForgeError(
    'state_invalid',
    `Batches are kept up to ${LIMITS.batches}, with ${LIMITS.batches_tasks} tasks in all; that would be ${all.length + batches} with ${count}`,
    { hint: `Delete lines of closed batches from ${path}: forge batch list --all`, details: { path } },
  );
}

function refuseUnknown(name: string, batches: readonly Batch[]): never {
  throw new ForgeError('not_found', `No batch ${JSON.stringify(name)}`, {
    hint: 'forge batch list',
    details: { name, known: batches.map((batch) => batch.name) },
  });
}

/** Two projects may have the same id, where neither is registered or one was imported from the other. */
function withoutDoubles(tasks: readonly BatchTask[]): BatchTask[] {
  const seen = new Set<string>();
  return tasks.filter(({ id, path }) => {
    const key = `${path}\n${id}`;
    const known = seen.has(key);
    seen.add(key);
    return !known;
  });
}

function toValue({ name, tasks, created_at, closed_at }: Batch): JsonObject {
  return { name, tasks: tasks as unknown as Json, created_at, closed_at }; // plain data, each key a string
}

interface ReadBatch {
  readonly at: number;
  readonly value: JsonObject;
  readonly batch: Batch;
}

function readBatches(lines: readonly HomeLine[], home: string): ReadBatch[] {
  return lines.flatMap(({ value }, at) => {
    if (value === undefined) return [];
    const { name, tasks, created_at, closed_at } = value;
    if (typeof name !== 'string' || name === '') throw damaged(home, at, 'has no name');
    if (!Array.isArray(tasks)) throw damaged(home, at, 'has no list of tasks');
    const batch = {
      name,
      tasks: (tasks as readonly Json[]).map((task) => readTask(task) ?? refuseTask(home, at)),
      created_at: typeof created_at === 'string' ? created_at : '',
      closed_at: typeof closed_at === 'string' ? closed_at : null,
    };
    return [{ at, value, batch }];
  });
}

/** What others wrote beside the three keys stays in the line. */
function readTask(value: Json): BatchTask | undefined {
  const task = (value ?? {}) as JsonObject;
  const { id, project, path } = task;
  if (typeof id !== 'string' || typeof project !== 'string' || typeof path !== 'string') return undefined;
  return { ...task, id, project, path };
}

function refuseTask(home: string, at: number): never {
  throw damaged(home, at, 'has a task without id, project and path');
}

function damaged(home: string, at: number, what: string): ForgeError {
  const path = join(home, FILE);
  return new ForgeError('invalid_input', `${path}, line ${at + 1}, ${what}`, {
    hint: 'Correct it by hand, or move it away and start anew',
    details: { path, line: at + 1 },
  });
}
