import type { LocalNumbers } from '#domain/plan-write.ts';
import { defaultState } from '#domain/states.ts';
import { digestElement, digestParts } from '#domain/record-digests.ts';
import { dependencyKey } from '#domain/task-record.ts';
import { digestWithChecksum } from '#kernel/checksum.ts';
import { parseIso, toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Value } from './database.ts';

/**
 * The line of a task that is nothing special, as the row it becomes: written by Forge, never changed but by claims,
 * moves and closes, without comments, nested metadata or keys of others. Nearly all lines of a first import are like
 * that, and a record of each, only to take it apart again, would be most of its time.
 */
export interface PlainLine {
  readonly id: string;
  readonly created: number;
  readonly created_by: string;
  readonly edges: readonly { readonly id: string; readonly type: string }[];
  readonly digest: number;
  /** The values of a new row, after its id, in the order of its columns. */
  values(numbers: LocalNumbers, parked: ReadonlySet<string>): Value[];
  readonly assignee: string | null;
}

const KEYS = new Set(
  [false, true].flatMap((state) =>
    [false, true].map((reason) =>
      [
        'id,title,description,status',
        ...(state ? ['state'] : []),
        ...(reason ? ['close_reason'] : []),
        'priority,type,assignee,parent_id,dependencies,labels,github_issue',
        'created_at,created_by,updated_at,closed_at,metadata,_v',
      ].join(','),
    ),
  ),
);
const STATUSES = ['open', 'in_progress', 'closed'] as const;
const TYPES = new Set<unknown>(['task', 'bug', 'feature', 'epic', 'message']);
const EDGE_TYPES = new Set<unknown>(['blocks', 'related', 'discovered-from']);
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/**
 * Undefined for every other line, which the codec reads. What this takes, the codec would take too, and write as the
 * very same line and row: a test holds both against each other.
 */
export function readPlainLine(text: string): PlainLine | undefined {
  const json = parse(text);
  // The same text again: no spaces, no key twice, no number that changes by being read.
  if (json === undefined || !KEYS.has(Object.keys(json).join(',')) || JSON.stringify(json) !== text)
    return undefined;
  const { id, title, description, priority, type, assignee, parent_id, github_issue } = json;
  const { created_by, labels, metadata, dependencies } = json;
  if (!isId(id) || typeof title !== 'string' || typeof description !== 'string') return undefined;
  if (!isPriority(priority) || !TYPES.has(type) || !isNullable(assignee)) return undefined;
  if ((parent_id !== null && !isId(parent_id)) || typeof created_by !== 'string') return undefined;
  if (github_issue !== null && !Number.isSafeInteger(github_issue)) return undefined;
  if (!isSorted(labels) || !isPlainMetadata(metadata) || !areEdges(dependencies)) return undefined;
  const life = readLife(json);
  const times = readTimes(json);
  const sealed = readSeal(text);
  if (life === undefined || times === undefined || sealed === undefined) return undefined;
  const { status, state, close_reason, closed_at } = life;
  const digests = digestParts({
    life: { ...life, assignee },
    title,
    description,
    priority,
    type: type as string, // one of TYPES
    fields: Object.entries({ parent_id, github_issue: github_issue as Json }).filter(
      (entry): entry is [string, Json] => entry[1] !== null,
    ),
    labels: labels.map((label) => digestElement(label, true)),
    edges: dependencies.map((edge) => digestElement(dependencyKey(edge.id, edge.type), true)),
    metadata: Object.entries(metadata as Readonly<Record<string, Json>>),
    conflicts: [],
  });
  if (digests !== times.digests) return undefined;
  return {
    id,
    created: times.created,
    created_by,
    edges: dependencies,
    digest: sealed.digest,
    assignee,
    values: ({ version, fence }, parked) => [
      title,
      description,
      status,
      close_reason,
      priority,
      type as string, // one of TYPES
      assignee,
      parent_id,
      JSON.stringify(labels),
      github_issue as number | null, // checked above
      times.created_at,
      created_by,
      times.updated_at,
      closed_at,
      JSON.stringify(metadata),
      state,
      parked.has(state) ? 1 : 0,
      version,
      fence,
      times.stamps,
      null,
      null,
      null,
      sealed.digest,
    ],
  };
}

type Line = Readonly<Record<string, unknown>>;

function parse(text: string): Line | undefined {
  if (!text.startsWith('{"id":"')) return undefined;
  try {
    return readJson(text) as Line; // it begins as an object
  } catch {
    return undefined;
  }
}

function readLife(json: Line):
  | {
      status: (typeof STATUSES)[number];
      state: string;
      close_reason: string | null;
      closed_at: string | null;
    }
  | undefined {
  const { closed_at } = json;
  const status = STATUSES.find((known) => known === json['status']);
  const close_reason = json['close_reason'] ?? null;
  if (status === undefined || !isNullable(close_reason) || !isNullable(closed_at)) return undefined;
  if ('close_reason' in json && close_reason === null) return undefined;
  const isClosed = status === 'closed';
  if (isClosed !== (closed_at !== null) || (!isClosed && close_reason !== null)) return undefined;
  const usual = defaultState(status, close_reason);
  const { state = usual } = json;
  if (typeof state !== 'string' || ('state' in json && state === usual)) return undefined;
  return { status, state, close_reason, closed_at };
}

/** Of all stamps there may be one for everything and one for the task's life. */
function readTimes(
  json: Line,
): { created: number; created_at: string; updated_at: string; digests: unknown; stamps: string } | undefined {
  const { created_at, updated_at } = json;
  if (typeof created_at !== 'string' || typeof updated_at !== 'string') return undefined;
  const created = parseIso(created_at);
  if (created === undefined || created < 0 || created >= LIMITS.stamp_max_ms) return undefined;
  const v = json['_v'] as Line | null;
  if (typeof v !== 'object' || v === null) return undefined;
  if (!STAMP_KEYS.has(Object.keys(v).join(','))) return undefined;
  const base = v[''] === undefined ? created : number36(v['']);
  if (base === undefined || (v[''] !== undefined && base === created)) return undefined;
  const written = v['status'] === undefined ? base : readWritten(v['status']);
  if (written === undefined || toIso(Math.max(created, base, written)) !== updated_at) return undefined;
  const { '': common, status, updated_at: digests } = v;
  const stamps = JSON.stringify({ '': common, status, updated_at: digests });
  return { created, created_at, updated_at, digests, stamps };
}

const STAMP_KEYS = new Set(['', ',', 'status,', ',status,'].map((before) => `${before}updated_at,_v`));

/** When the task's life was written last; undefined where nothing was claimed yet, for which there are other rules. */
function readWritten(status: unknown): number | undefined {
  const [n, began, written = began, ...rest] = typeof status === 'string' ? status.split('.') : [];
  const life = {
    n: number36(n, Number.MAX_SAFE_INTEGER),
    began: number36(began),
    written: number36(written),
  };
  if (life.began === undefined || life.written === undefined) return undefined;
  if (life.n === undefined || life.n === 0 || rest.length > 0) return undefined;
  const isShort = status === `${n}.${began}`;
  return isShort === (life.written === life.began) ? life.written : undefined;
}

/** In the one spelling that there is for it. */
function number36(text: unknown, max: number = LIMITS.stamp_max_ms - 1): number | undefined {
  if (typeof text !== 'string' || !/^[0-9a-z]{1,11}$/.test(text)) return undefined;
  const value = Number.parseInt(text, 36);
  return value <= max && value.toString(36) === text ? value : undefined;
}

/** The line's digest where the seal fits. */
function readSeal(text: string): { digest: number } | undefined {
  const at = text.lastIndexOf('"_v":"') + 6;
  const sealed = digestWithChecksum(text.slice(0, at), '"}}');
  return sealed.text === text ? sealed : undefined;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function isNullable(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 4;
}

function isSorted(list: unknown): list is string[] {
  if (!Array.isArray(list)) return false;
  return list.every(
    (label, at) => typeof label === 'string' && (at === 0 || (list[at - 1] as string) < label),
  );
}

function isPlainMetadata(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (!isSorted(Object.keys(value))) return false;
  // A number beyond what can be counted exactly is refused, also where it reads and writes alike.
  return Object.values(value).every(
    (one) =>
      (typeof one !== 'object' || one === null) && (!Number.isInteger(one) || Number.isSafeInteger(one)),
  );
}

function areEdges(list: unknown): list is { id: string; type: string }[] {
  if (!Array.isArray(list)) return false;
  let last = '';
  for (const edge of list as unknown[]) {
    if (typeof edge !== 'object' || edge === null || Object.keys(edge).join(',') !== 'id,type') return false;
    const { id, type } = edge as { id: unknown; type: unknown };
    if (!isId(id) || !EDGE_TYPES.has(type)) return false;
    // A space comes before every character of an id, so that a shorter one comes before a longer.
    const place = `${id} ${type as string}`;
    if (place <= last) return false;
    last = place;
  }
  return true;
}
