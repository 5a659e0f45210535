import { compareElements, compareLives, compareRegisters, elementOf } from './join-records.ts';
import type { LostValue } from './lost-values.ts';
import { sameElement, sameJson } from './same-value.ts';
import { isDeleted, type TaskRecord } from './task-record.ts';
import type { Json, JsonObject } from '#kernel/json.ts';

/**
 * A fold has no common ancestor to compare with, but it knows which values never left this store: what was changed
 * here after the last export. Where the file brings another value for one of them, which this store never had, both
 * sides wrote without knowing of each other, and the one that does not stand is kept.
 */
export function findUnsharedLosses(ours: TaskRecord, theirs: TaskRecord, known: KnownChanges): LostValue[] {
  // A deletion empties the task; what was edited meanwhile comes back with `forge task restore`.
  if (isDeleted(ours) || isDeleted(theirs)) return [];
  const candidates = findDifferences(ours, theirs);
  if (candidates.length === 0) return [];
  const { changed, seen } = readChanges(known);
  if (changed.size === 0) return [];
  return candidates.filter(({ name, incoming }) => {
    const [part = name] = name.split('.');
    if (!changed.has(part === 'life' ? 'assignee' : part)) return false;
    return !seen.some((task) => sameElement(valueIn(task, name), incoming));
  });
}

/** What the feed says of a task. */
export interface KnownChanges {
  readonly events: () => readonly {
    readonly seq: number;
    readonly triggered_by: string;
    readonly data: { readonly task?: JsonObject; readonly changed?: readonly string[] };
  }[];
  /** The newest event that the files hold. */
  readonly exported: () => number;
}

type Candidate = LostValue & { readonly incoming: Json };

function findDifferences(ours: TaskRecord, theirs: TaskRecord): Candidate[] {
  const found: Candidate[] = [];
  for (const [name, here] of ours.fields) {
    const there = theirs.fields.get(name);
    if (there === undefined || here.stamp === there.stamp || sameJson(here.value, there.value)) continue;
    const [stands, falls] = compareRegisters(here, there) >= 0 ? [here, there] : [there, here];
    found.push({
      name,
      value: falls.value,
      stamp: falls.stamp,
      beaten_at: stands.stamp,
      incoming: there.value,
    });
  }
  for (const key of ours.metadata.elements.keys()) {
    const here = elementOf(ours.metadata, key);
    const there = elementOf(theirs.metadata, key);
    if (here.value === undefined || there.value === undefined || sameElement(here.value, there.value))
      continue;
    const [stands, falls] = compareElements(here, there) >= 0 ? [here, there] : [there, here];
    found.push({
      name: `metadata.${key}`,
      value: falls.value ?? null,
      stamp: falls.stamp,
      beaten_at: stands.stamp,
      incoming: there.value,
    });
  }
  const lost = findLostClaim(ours, theirs);
  return lost === undefined ? found : [...found, lost];
}

/** Two claims with the same number: neither knew of the other. */
function findLostClaim({ life: here }: TaskRecord, { life: there }: TaskRecord): Candidate | undefined {
  if (here.n !== there.n || here.n === 0 || here.assignee === there.assignee) return undefined;
  if (here.status !== 'in_progress' || there.status !== 'in_progress') return undefined;
  const [stands, falls] = compareLives(here, there) >= 0 ? [here, there] : [there, here];
  const { status, state, assignee, close_reason, closed_at } = falls;
  return {
    name: 'life',
    value: { status, state, assignee, close_reason, closed_at },
    stamp: falls.written,
    beaten_at: stands.written,
    incoming: there.assignee,
  };
}

/** What was changed here since the last export, and every state of the task that the feed remembers. */
function readChanges({ events, exported }: KnownChanges): { changed: Set<string>; seen: JsonObject[] } {
  const newest = exported();
  const changed = new Set<string>();
  const seen: JsonObject[] = [];
  for (const { seq, triggered_by, data } of events()) {
    if (data.task !== undefined) seen.push(data.task);
    if (seq > newest && !triggered_by.startsWith('system:')) {
      for (const name of data.changed ?? []) changed.add(name);
    }
  }
  return { changed, seen };
}

function valueIn(task: JsonObject, name: string): Json | undefined {
  if (name === 'life') return task.assignee;
  if (!name.startsWith('metadata.')) return task[name];
  const metadata = task.metadata as JsonObject | undefined;
  const key = name.slice('metadata.'.length);
  return metadata !== undefined && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
}
