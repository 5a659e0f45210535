import { LIMITS } from '#kernel/limits.ts';
import { mapStrings } from '#kernel/map-strings.ts';
import { type FoundSecret, listSecrets, maskSecrets } from './find-secrets.ts';
import { hasSecretName, listNamedSecrets } from './named-secrets.ts';

/** Where in a line of a committed file something stands that looks like a key. */
export interface LocatedSecret {
  /** The task; undefined in a file that is about none. */
  readonly id: string | undefined;
  /** A field's name, `metadata.<key>`, `comments`, or the reason of a move; a key of the config. */
  readonly field: string;
  /** What it looks like, with its article. */
  readonly name: string;
  readonly value: string;
  /** What a person types to take it out; undefined where nothing does. */
  readonly command: string | undefined;
}

/** Of one line of a task file, or of any other text. Empty for nearly all. */
export function locateSecrets(line: string): LocatedSecret[] {
  if (!mayHoldSecrets(line)) return [];
  const record = parseRecord(line);
  if (record === undefined) {
    const field = /"([^"]{1,100})"\s{0,8}:/.exec(line)?.[1] ?? '';
    return listSecrets(line).map((one) => ({ ...one, id: undefined, field, command: undefined }));
  }
  const { stamps, rest } = withoutStamps(record);
  const id = String(record['id'] ?? record['task']);
  const isDeleted = typeof record['deleted_at'] === 'string';
  const located = listFields(rest).flatMap(([field, value]) =>
    listNamedSecrets(value).map((one) => ({
      ...one,
      id,
      field: maskSecrets(field),
      command: toCommand(id, field, isDeleted),
    })),
  );
  const others = listBetween(rest, located);
  // Of two keys of one name only the last is in the record.
  const whole = () => listSecrets(line).filter(({ value }) => !stamps.has(value));
  const more = located.length + others.length > 0 ? others : whole();
  return [...located, ...more.map((one) => ({ ...one, id, field: 'line', command: undefined }))];
}

/** Whether a look at each line of a text is worth it; nearly always not. */
export function mayHoldSecrets(text: string): boolean {
  return hasSecretName(text) || listSecrets(text).length > 0;
}

/** What stands in two fields, a name in one and its value in another. */
function listBetween(record: Record<string, unknown>, located: readonly FoundSecret[]): FoundSecret[] {
  const known = new Set(located.map(({ value }) => value));
  return listNamedSecrets(record).filter(({ value }) => !known.has(value));
}

/**
 * The times that Forge has written into `_v` are no secrets, also beside names that say so. Nothing else is passed over
 * there: a person can write into `_v` too.
 */
function withoutStamps(record: Record<string, unknown>): {
  readonly stamps: ReadonlySet<string>;
  readonly rest: Record<string, unknown>;
} {
  const stamps = new Set<string>();
  const _v = mapStrings(record['_v'], (text) => {
    if (!isStamp(text)) return text;
    stamps.add(text);
    return '';
  });
  return { stamps, rest: { ...record, ...(_v !== undefined && { _v }) } };
}

/** Earlier ones are too short for a secret that only its name tells. */
const FIRST_STAMP_MS = Date.UTC(2000, 0);

/** A time in base36, of what was taken out with a dash. */
function isStamp(text: string): boolean {
  const at = /^-?[0-9a-z]{8,9}$/.test(text) ? Number.parseInt(text.replace('-', ''), 36) : 0;
  return at >= FIRST_STAMP_MS && at < LIMITS.stamp_max_ms;
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  if (!/^\{"(?:id|task)":"/.test(line)) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>; // it begins as an object
  } catch {
    return undefined;
  }
}

/** Each with its key, which may be one or say that the value is; metadata by its keys. */
function listFields(record: Record<string, unknown>): (readonly [string, unknown])[] {
  return Object.entries(record).flatMap(([field, value]) => {
    if (field !== 'metadata' || typeof value !== 'object' || value === null)
      return [[field, { [field]: value }] as const];
    return Object.entries(value).map(([key, one]) => [`metadata.${key}`, { [key]: one }] as const);
  });
}

const FLAGS: Readonly<Record<string, string>> = {
  title: 'title',
  description: 'description',
  assignee: 'assignee',
};

/** What a deleted task held stays in its line, and only a task that is not deleted can be changed. */
function toCommand(id: string, field: string, isDeleted: boolean): string | undefined {
  const change = toChange(field);
  if (change === undefined) return undefined;
  const update = `forge task update ${id} --${change}`;
  return isDeleted ? `forge task restore ${id}; ${update}; forge task delete ${id}` : update;
}

function toChange(field: string): string | undefined {
  const flag = FLAGS[field];
  if (flag !== undefined) return `${flag} "…"`;
  const key = field.startsWith('metadata.') ? field.slice('metadata.'.length) : '';
  return /^[\w.-]+$/.test(key) && maskSecrets(key) === key ? `meta-unset ${key}` : undefined;
}
