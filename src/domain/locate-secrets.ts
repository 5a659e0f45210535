import { listSecrets, maskSecrets } from './find-secrets.ts';

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
  const found = listSecrets(line);
  if (found.length === 0) return [];
  const record = parseRecord(line);
  if (record === undefined) {
    const field = /"([^"]{1,100})"\s{0,8}:/.exec(line)?.[1] ?? '';
    return found.map((one) => ({ ...one, id: undefined, field, command: undefined }));
  }
  const id = String(record['id'] ?? record['task']);
  return listFields(record).flatMap(([field, text]) =>
    listSecrets(text).map((one) => ({
      ...one,
      id,
      field: maskSecrets(field),
      command: toCommand(id, field, typeof record['deleted_at'] === 'string'),
    })),
  );
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  if (!/^\{"(?:id|task)":"/.test(line)) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>; // it begins as an object
  } catch {
    return undefined;
  }
}

/** Each as the text of all that is in it; metadata by its keys. */
function listFields(record: Record<string, unknown>): (readonly [string, string])[] {
  return Object.entries(record).flatMap(([field, value]) => {
    if (field !== 'metadata' || typeof value !== 'object' || value === null)
      return [[field, toText(value)] as const];
    return Object.entries(value).map(([key, one]) => [`metadata.${key}`, `${key}\n${toText(one)}`] as const);
  });
}

/** A private key has line ends, which JSON writes as two characters. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
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
