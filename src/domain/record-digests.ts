import { tinyHash } from '#kernel/checksum.ts';
import { canonicalJson, type Json } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import {
  FIELD_DEFAULTS,
  fieldValue,
  type ElementMap,
  type Life,
  type MapName,
  type TaskRecord,
} from './task-record.ts';

/**
 * What a record holds, value by value, in a few characters: a line carries them beside its stamps. A value that does
 * not fit its digest was changed after Forge wrote the line, and so are keys that came or went, whichever copies of
 * the task are at hand to compare with.
 *
 * Three characters each for the life, the title and the description, one each for priority and type, then sections
 * after dots: other fields (name and value), labels, edges, metadata (key and value), conflicts. Empty sections at
 * the end are left out.
 */
export function digestRecord(record: TaskRecord): string {
  const fields: [string, Json][] = [];
  for (const [name, { value }] of record.fields) {
    if (value !== null && !HAS_PLACE.has(name)) fields.push([name, value]);
  }
  return digestParts({
    life: record.life,
    title: fieldValue(record, 'title') as string, // decoded as such
    description: fieldValue(record, 'description') as string,
    priority: fieldValue(record, 'priority') as number,
    type: fieldValue(record, 'type') as string,
    fields,
    labels: digestEntries(record.labels),
    edges: digestEntries(record.dependencies),
    metadata: presentEntries(record.metadata),
    conflicts: digestEntries(record.conflicts, 'keys'),
  });
}

/** The same of values that are no record yet; all lists in any order. */
export interface DigestedParts {
  readonly life: LifeValues;
  readonly title: string;
  readonly description: string;
  readonly priority: number;
  readonly type: string;
  readonly fields: [string, Json][];
  /** Already as digests: of what has no value apart from its name. */
  readonly labels: string[];
  readonly edges: string[];
  readonly metadata: [string, Json][];
  readonly conflicts: string[];
}

type LifeValues = Pick<Life, 'status' | 'state' | 'assignee' | 'close_reason' | 'closed_at'>;

export function digestParts(parts: DigestedParts): string {
  const { priority, type } = parts;
  const head = `${digestLife(parts.life)}${tinyHash(parts.title)}${tinyHash(parts.description)}${priority}${type[0] ?? ''}`;
  if (isEmpty(parts)) return head;
  const sections = [
    digestPairs(parts.fields),
    parts.labels.sort(compareText).join(''),
    parts.edges.sort(compareText).join(''),
    digestPairs(parts.metadata),
    parts.conflicts.sort(compareText).join(''),
  ];
  while (sections.at(-1) === '') sections.pop();
  return [head, ...sections].join('.');
}

/** Digests taken apart again. */
export interface KnownDigests {
  readonly life: string;
  readonly title: string;
  readonly description: string;
  readonly priority: string;
  readonly type: string;
  /** Name's digest → value's. */
  readonly fields: ReadonlyMap<string, string>;
  readonly labels: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
  readonly metadata: ReadonlyMap<string, string>;
  readonly conflicts: ReadonlySet<string>;
}

/** The names of the values that are not the same in both. */
export function listChangedValues(before: KnownDigests, after: KnownDigests): string[] {
  const single = (['life', 'title', 'description', 'priority', 'type'] as const).filter(
    (name) => before[name] !== after[name],
  );
  const sets = (['labels', 'edges', 'conflicts'] as const).flatMap((name) =>
    [...new Set([...before[name], ...after[name]])]
      .filter((one) => before[name].has(one) !== after[name].has(one))
      .map((one) => `${name}.${one}`),
  );
  const pairs = (['fields', 'metadata'] as const).flatMap((name) =>
    [...new Set([...before[name].keys(), ...after[name].keys()])]
      .filter((key) => before[name].get(key) !== after[name].get(key))
      .map((key) => `${name}.${key}`),
  );
  return [...single, ...sets, ...pairs];
}

const HEAD = /^([0-9a-z]{3})([0-9a-z]{3})([0-9a-z]{3})([0-4])([a-z])$/;
const SECTION = /^(?:[0-9a-z]{3})*$/;

/** Undefined for what no version of Forge wrote. */
export function readDigests(text: string): KnownDigests | undefined {
  const [head = '', ...sections] = text.split('.');
  const [, life = '', title = '', description = '', priority = '', type = ''] = HEAD.exec(head) ?? [];
  if (type === '' || sections.length > 5 || !sections.every((section) => SECTION.test(section)))
    return undefined;
  const [fields = '', labels = '', edges = '', metadata = '', conflicts = ''] = sections;
  return {
    life,
    title,
    description,
    priority,
    type,
    fields: toPairs(fields),
    labels: new Set(split(labels)),
    edges: new Set(split(edges)),
    metadata: toPairs(metadata),
    conflicts: new Set(split(conflicts)),
  };
}

/** Undefined for a value that is as good as not there. */
export function digestOfField(name: string, value: Json): string | undefined {
  switch (name) {
    case 'title':
    case 'description':
      return tinyHash(typeof value === 'string' ? value : '');
    case 'priority':
      return String(value as number); // decoded as such
    case 'type':
      return (value as string)[0];
    default:
      return value === null ? undefined : digestValue(value);
  }
}

/** What the digests say of a field. */
export function fieldIn(digests: KnownDigests, name: string): string | undefined {
  if (name === 'title' || name === 'description' || name === 'priority' || name === 'type')
    return digests[name];
  return digests.fields.get(digestName(name));
}

/** What the digests say of a key of the metadata. */
export function metadataIn(digests: KnownDigests, key: string): string | undefined {
  return digests.metadata.get(digestName(key));
}

/** Whether the digests say that the key has a value, or that it is not there. */
export function stateIn(
  digests: KnownDigests,
  name: MapName,
  key: string,
): (value: Json | undefined) => boolean {
  if (name === 'metadata') {
    const was = metadataIn(digests, key);
    return (value) => (value === undefined ? undefined : digestValue(value)) === was;
  }
  if (name === 'dependencies') {
    return (value) => digests.edges.has(digestElement(key, value ?? true)) === (value !== undefined);
  }
  const had = digests[name].has(digestElement(key, true));
  return (value) => had === (value !== undefined);
}

/** Whether two digests say the same of a key; of an edge with keys of others only that it is not known. */
export function hasSameState(
  a: KnownDigests,
  b: KnownDigests,
  { name, key }: { readonly name: MapName; readonly key: string },
): boolean {
  if (name === 'metadata') return a.metadata.get(digestName(key)) === b.metadata.get(digestName(key));
  const digest = digestElement(key, true);
  const set = name === 'dependencies' ? 'edges' : name;
  return a[set].has(digest) === b[set].has(digest);
}

function digestName(name: string): string {
  return tinyHash(name);
}

export function digestValue(value: Json): string {
  return tinyHash(typeof value === 'string' ? `"${value}` : canonicalJson(value));
}

/** Of what is there or not; keys of others that an edge holds count as another edge. */
export function digestElement(key: string, value: Json): string {
  return tinyHash(value === true ? key : `${key} ${canonicalJson(value)}`);
}

export function digestLife({ status, state, assignee, close_reason, closed_at }: LifeValues): string {
  if (status === 'open' && state === 'todo' && assignee === null) return NEW_LIFE;
  return tinyHash(JSON.stringify([status, state, assignee, close_reason, closed_at]));
}

const NEW_LIFE = tinyHash(JSON.stringify(['open', 'todo', null, null, null]));
/** The fields with a place of their own; the others may be missing. */
const HAS_PLACE: ReadonlySet<string> = new Set(
  Object.keys(FIELD_DEFAULTS).filter((name) => FIELD_DEFAULTS[name as keyof typeof FIELD_DEFAULTS] !== null),
);

function isEmpty({ fields, labels, edges, metadata, conflicts }: DigestedParts): boolean {
  return fields.length + labels.length + edges.length + metadata.length + conflicts.length === 0;
}

function presentEntries(map: ElementMap): [string, Json][] {
  const entries: [string, Json][] = [];
  for (const [key, { value }] of map.elements) if (value !== undefined) entries.push([key, value]);
  return entries;
}

function digestEntries(map: ElementMap, what?: 'keys'): string[] {
  const found: string[] = [];
  for (const [key, { value }] of map.elements) {
    if (value !== undefined) found.push(digestElement(key, what === 'keys' ? true : value));
  }
  return found;
}

function digestPairs(entries: readonly [string, Json][]): string {
  return entries
    .map(([name, value]) => `${digestName(name)}${digestValue(value)}`)
    .sort(compareText)
    .join('');
}

function split(section: string): string[] {
  return section.match(/.{3}/g) ?? [];
}

function toPairs(section: string): Map<string, string> {
  const parts = split(section);
  const pairs = new Map<string, string>();
  for (let at = 0; at + 1 < parts.length; at += 2) pairs.set(parts[at] ?? '', parts[at + 1] ?? '');
  return pairs;
}
