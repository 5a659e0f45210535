import { ForgeError } from '#kernel/errors.ts';
import { emptyObject, type Json, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { compareText } from '#kernel/text.ts';
import { digestRecord, readDigests } from './record-digests.ts';
import { MAP_NAMES, type Element, type ElementMap, type MapName, type TaskRecord } from './task-record.ts';

/**
 * The `_v` key of a line. All stamps in base36.
 * - `""`: the stamp of every field that is not listed; left out when it equals created_at
 * - a field's name: its stamp; a line's key with the empty name, which is taken, stands under `id`
 * - `status`: the life register, `n.began.written`, the last left out when it equals began
 * - `labels`, `dependencies`, `metadata`, `conflicts`: the floor, or [floor, {element: stamp}]; `-stamp` is a
 *   removed one, and a present element that is not listed has the floor's stamp
 * - `comments`, which have no stamps: edits by hand that were taken in, `seal:digests:stamp` each (hand-edits.ts)
 * - `updated_at`: the digests of what the line holds (record-digests.ts)
 * - `_v`, always last and added when the line is written: the line's seal (record-seal.ts)
 * Other tools write lines without `_v`: all of their stamps are their updated_at, and no agent claimed them.
 */
export type StampsJson = Record<string, string | readonly [string, Readonly<Record<string, string>>]>;

/** Keys of `_v` that are not the stamp of a field. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['', 'status', 'comments', 'updated_at', '_v', ...MAP_NAMES]);

export interface Stamps {
  readonly life: { readonly n: number; readonly began: number; readonly written: number };
  field(name: string): number;
  /** Fields whose stamp is written out. */
  readonly listedFields: readonly string[];
  map(name: MapName): { readonly floor: number; readonly listed: ReadonlyMap<string, number> };
  readonly hand: TaskRecord['hand'];
}

export function encodeStamps(record: TaskRecord): StampsJson {
  const { created } = record;
  const base = commonStamp(record);
  const stamps = emptyObject<StampsJson[string]>();
  if (base !== created) stamps[''] = base36(base);
  const { life } = record;
  if (life.n !== 0 || life.began !== 0 || life.written !== base) stamps.status = encodeLife(life);
  // Most records have nothing to list here, so that only what is listed is sorted.
  const listed: [string, number][] = [];
  for (const [name, field] of record.fields) if (field.stamp !== base) listed.push([name, field.stamp]);
  for (const [name, at] of listed.sort(byName)) stamps[stampKey(name)] = base36(at);
  for (const name of MAP_NAMES) {
    const encoded = encodeMap(record[name], base);
    if (encoded !== undefined) stamps[name] = encoded;
  }
  if (record.hand !== undefined) stamps['comments'] = encodeHand(record.hand);
  stamps['updated_at'] = digestRecord(record);
  return stamps;
}

export function decodeStamps(value: Json | undefined, times: { created: number; updated: number }): Stamps {
  if (value === undefined) {
    const { updated } = times;
    return {
      life: { n: 0, began: 0, written: updated },
      field: () => updated,
      listedFields: [],
      map: () => ({ floor: updated, listed: new Map() }),
      hand: undefined,
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged(value);
  const listed = value as JsonObject;
  const own = (key: string): Json | undefined => (Object.hasOwn(listed, key) ? listed[key] : undefined);
  const common = own('');
  const base = common === undefined ? times.created : stamp(common);
  return {
    life: decodeLife(own('status'), base),
    field: (name) => {
      const found = own(stampKey(name));
      return found === undefined ? base : stamp(found);
    },
    listedFields: Object.keys(listed)
      .filter((key) => !NOT_FIELDS.has(key))
      .map((key) => (key === stampKey('') ? '' : key)),
    map: (name) => decodeMap(own(name), base),
    hand: decodeHand(own('comments')),
  };
}

function stampKey(field: string): string {
  return field === '' ? 'id' : field;
}

/** The stamp that most single values share; of two equally common ones the smaller. */
function commonStamp(record: TaskRecord): number {
  if (hasOneStamp(record)) return record.labels.floor;
  const counts = new Map<number, number>();
  const count = (at: number): void => void counts.set(at, (counts.get(at) ?? 0) + 1);
  for (const field of record.fields.values()) count(field.stamp);
  for (const name of MAP_NAMES) count(record[name].floor);
  let best = { at: 0, times: 0 };
  for (const [at, times] of counts) {
    if (times > best.times || (times === best.times && at < best.at)) best = { at, times };
  }
  return best.at;
}

/** Nearly always: whoever makes a task writes all of it, and most changes are those of its life. */
function hasOneStamp(record: TaskRecord): boolean {
  const { floor } = record.labels;
  for (const field of record.fields.values()) if (field.stamp !== floor) return false;
  return MAP_NAMES.every((name) => record[name].floor === floor);
}

function encodeHand(hand: NonNullable<TaskRecord['hand']>): string {
  return [...hand]
    .sort(byName)
    .map(([line, at]) => `${line}:${base36(at)}`)
    .join(' ');
}

function decodeHand(value: Json | undefined): TaskRecord['hand'] {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw damaged(value);
  const hand = new Map<string, number>();
  for (const entry of value.split(' ')) {
    const [seal, digests, at, ...rest] = entry.split(':');
    if (seal === undefined || digests === undefined || rest.length > 0) throw damaged(value);
    if (!/^~?[0-9a-z]{1,11}$/.test(seal) || readDigests(digests) === undefined) throw damaged(value);
    hand.set(`${seal}:${digests}`, stamp(at));
  }
  return hand;
}

function encodeLife(life: TaskRecord['life']): string {
  const head = `${base36(life.n)}.${base36(life.began)}`;
  return life.written === life.began ? head : `${head}.${base36(life.written)}`;
}

function decodeLife(value: Json | undefined, base: number): Stamps['life'] {
  if (value === undefined) return { n: 0, began: 0, written: base };
  if (typeof value !== 'string') throw damaged(value);
  const [n, began, written, ...rest] = value.split('.');
  if (n === undefined || began === undefined || rest.length > 0) throw damaged(value);
  return { n: number36(n, Number.MAX_SAFE_INTEGER), began: stamp(began), written: stamp(written ?? began) };
}

function encodeMap(map: ElementMap, base: number): StampsJson[string] | undefined {
  const differing: [string, Element][] = [];
  for (const entry of map.elements) {
    if (entry[1].value === undefined || entry[1].stamp !== map.floor) differing.push(entry);
  }
  if (differing.length === 0) return map.floor === base ? undefined : base36(map.floor);
  const listed = emptyObject<string>();
  for (const [key, element] of differing.sort(byName)) {
    listed[key] = element.value === undefined ? `-${base36(element.stamp)}` : base36(element.stamp);
  }
  return [base36(map.floor), listed];
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return compareText(a, b);
}

function decodeMap(value: Json | undefined, base: number): { floor: number; listed: Map<string, number> } {
  if (value === undefined) return { floor: base, listed: new Map() };
  if (typeof value === 'string') return { floor: stamp(value), listed: new Map() };
  if (!Array.isArray(value)) throw damaged(value);
  const [floor, entries] = value as readonly Json[];
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) throw damaged(value);
  const listed = new Map<string, number>();
  for (const [key, text] of Object.entries(entries as JsonObject)) {
    const removed = typeof text === 'string' && text.startsWith('-');
    listed.set(key, removed ? -stamp(text.slice(1)) : stamp(text));
  }
  return { floor: stamp(floor), listed };
}

function base36(value: number): string {
  return value.toString(36);
}

function stamp(value: Json | undefined): number {
  if (typeof value !== 'string') throw damaged(value);
  return number36(value, LIMITS.stamp_max_ms - 1);
}

function number36(text: string, max: number): number {
  const value = /^[0-9a-z]{1,11}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN;
  if (!(value <= max)) throw damaged(text);
  return value;
}

function damaged(value: unknown): ForgeError {
  return new ForgeError('invalid_input', `Not a task: the stamps "_v" hold ${JSON.stringify(value)}`);
}
