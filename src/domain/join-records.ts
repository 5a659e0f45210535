import { canonicalJson, type Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { compareText } from '#kernel/text.ts';
import {
  MAP_NAMES,
  type Element,
  type ElementMap,
  type Life,
  type MapName,
  type Register,
  type StoredComment,
  type TaskRecord,
} from './task-record.ts';

/**
 * Two copies of one task (same id, same identity) as one that holds what both know. Commutative, associative and
 * idempotent; with the record after a local operation it gives that record. Returns `a` itself where `b` adds nothing.
 */
export function joinRecords(a: TaskRecord, b: TaskRecord): TaskRecord {
  if (a === b) return a;
  const life = compareLives(a.life, b.life) >= 0 ? a.life : b.life;
  const fields = joinRegisters(a.fields, b.fields);
  const comments = joinComments(a.comments, b.comments);
  // One moment can be spelt in several ways; the identity is the moment.
  const created_at = compareText(a.created_at, b.created_at) >= 0 ? a.created_at : b.created_at;
  const maps = {} as Record<MapName, ElementMap>;
  let changed =
    life !== a.life || fields !== a.fields || comments !== a.comments || created_at !== a.created_at;
  const hand = joinHands(a.hand, b.hand);
  changed ||= hand !== a.hand;
  for (const name of MAP_NAMES) {
    maps[name] = joinMaps(a[name], b[name]);
    changed ||= maps[name] !== a[name];
  }
  return changed ? { ...a, created_at, life, fields, comments, hand, ...maps } : a;
}

/**
 * The one total order of lives; positive when `a` stands. Lines that nobody ever claimed through Forge (n = 0) follow
 * the last write alone. After that a close beats what is not one, of two closes the later stands, and of two claims
 * the one that began first.
 */
export function compareLives(a: Life, b: Life): number {
  if (a === b) return 0;
  if (a.n !== b.n) return a.n - b.n;
  if (a.n > 0) {
    const closed = Number(a.status === 'closed') - Number(b.status === 'closed');
    if (closed !== 0) return closed;
    if (a.status !== 'closed' && a.began !== b.began) return b.began - a.began;
  }
  if (a.written !== b.written) return a.written - b.written;
  return compareText(lifeText(a), lifeText(b));
}

/** Positive when `a` stands: the later stamp, of equal ones the larger value. */
export function compareRegisters(a: Register, b: Register): number {
  return a.stamp - b.stamp || compareValues(a.value, b.value);
}

/** What a map says of a key: its element, or absent since the floor. */
export function elementOf(map: ElementMap, key: string): Element {
  return map.elements.get(key) ?? { stamp: map.floor, value: undefined };
}

/** Positive when `a` stands; at one stamp what is there beats what is not. */
export function compareElements(a: Element, b: Element): number {
  if (a.stamp !== b.stamp) return a.stamp - b.stamp;
  if (a.value === undefined || b.value === undefined) {
    return Number(a.value !== undefined) - Number(b.value !== undefined);
  }
  return compareValues(a.value, b.value);
}

function joinRegisters(a: TaskRecord['fields'], b: TaskRecord['fields']): TaskRecord['fields'] {
  let joined: Map<string, Register> | undefined;
  for (const [name, theirs] of b) {
    const ours = a.get(name);
    if (ours !== undefined && compareRegisters(ours, theirs) >= 0) continue;
    joined ??= new Map(a);
    joined.set(name, theirs);
  }
  return joined ?? a;
}

function joinMaps(a: ElementMap, b: ElementMap): ElementMap {
  const floor = Math.max(a.floor, b.floor);
  const elements = new Map<string, Element>();
  let changed = floor !== a.floor;
  const add = (key: string): void => {
    const ours = elementOf(a, key);
    const theirs = elementOf(b, key);
    const stands = compareElements(ours, theirs) >= 0 ? ours : theirs;
    // What is absent since the floor or before needs no words.
    if (stands.value === undefined && stands.stamp <= floor) changed ||= a.elements.has(key);
    else elements.set(key, stands);
    changed ||= stands !== ours;
  };
  for (const key of a.elements.keys()) add(key);
  for (const key of b.elements.keys()) if (!a.elements.has(key)) add(key);
  return changed ? { floor, elements } : a;
}

function joinComments(a: TaskRecord['comments'], b: TaskRecord['comments']): TaskRecord['comments'] {
  let joined: Map<string, StoredComment> | undefined;
  for (const [id, theirs] of b) {
    const ours = a.get(id);
    if (ours !== undefined && compareText(commentText(ours), commentText(theirs)) >= 0) continue;
    joined ??= new Map(a);
    joined.set(id, theirs);
  }
  return joined ?? a;
}

/** The newest few of both. */
export function joinHands(a: TaskRecord['hand'], b: TaskRecord['hand']): TaskRecord['hand'] {
  if (b === undefined || a === b) return a;
  const all = new Map(a);
  let changed = false;
  for (const [line, at] of b) {
    if ((all.get(line) ?? -1) >= at) continue;
    all.set(line, at);
    changed = true;
  }
  if (!changed) return a;
  if (all.size <= LIMITS.hand_edits) return all;
  const sorted = [...all].sort((one, other) => other[1] - one[1] || compareText(one[0], other[0]));
  const kept = new Map(sorted.slice(0, LIMITS.hand_edits));
  const isSame = a !== undefined && [...kept].every(([line, at]) => a.get(line) === at);
  return isSame ? a : kept;
}

function compareValues(a: Json, b: Json): number {
  return a === b ? 0 : compareText(canonicalJson(a), canonicalJson(b));
}

function lifeText(life: Life): string {
  const { status, state, assignee, close_reason, closed_at, began } = life;
  return JSON.stringify([status, state, assignee, close_reason, closed_at, began]);
}

function commentText({ author, body, reply_to, created_at, extra }: StoredComment): string {
  return canonicalJson([created_at, author, body, reply_to, extra ?? null]);
}
