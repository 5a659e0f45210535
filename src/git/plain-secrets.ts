import { createHash } from 'node:crypto';
import type { ControlGit } from './control-directory.ts';
import { openFilterBench } from './filter-bench.ts';
import { toShownPath } from './shown-path.ts';
import { isSecretFilter } from './user-filters.ts';

/** What a file under a filter that keeps secrets holds in plain text. */
export interface PlainSecret {
  /** As it is shown. */
  readonly path: string;
  readonly filter: string;
  /** Without blanks and line ends at both ends, which a copy by a shell may lose. */
  readonly text: Buffer;
}

/** A stored file under such a filter; its path as `latin1`. */
export interface SecretBlob {
  readonly path: string;
  readonly filter: string;
  readonly oid: string;
}

/** Shorter texts are words that stand anywhere. */
const LEAST_BYTES = 16;
/** From here on a text is also found inside of another: a short line such as `NODE_ENV=production` is in many files. */
const LEAST_BYTES_INSIDE = 32;

/** Whether the clone configures the filter, and the filter keeps secrets. */
export function keepsSecrets(control: ControlGit, filter: string): boolean {
  return isSecretFilter(filter) && control.filters.some(({ name }) => name === filter);
}

export function toPlainSecret(path: string, filter: string, content: Buffer): PlainSecret | undefined {
  const text = trim(content);
  // The end of the last line counts.
  return text.length + 1 < LEAST_BYTES ? undefined : { path: toShownPath(path), filter, text };
}

/**
 * What the stored files hold in plain text; one that its filter cannot read is left out. `isPublic` is told the id that
 * git would give the plain text: what the base has in plain text anyway is no secret. `objects` are the folders that
 * the blobs lie in, besides the user's.
 */
export async function readSecretBlobs(
  control: ControlGit,
  blobs: readonly SecretBlob[],
  { objects, isPublic }: { readonly objects: readonly string[]; readonly isPublic: (oid: string) => boolean },
): Promise<readonly PlainSecret[]> {
  if (blobs.length === 0) return [];
  const secrets: PlainSecret[] = [];
  await using bench = await openFilterBench(control, objects);
  const once = new Map(blobs.map((blob) => [`${blob.filter}\0${blob.path}\0${blob.oid}`, blob]));
  for (const [filter, group] of Map.groupBy(once.values(), (blob) => blob.filter)) {
    const asked = group.map(({ path, oid }) => ({ path: toShownPath(path), oid }));
    for (const [at, plain] of (await bench.readAll(filter, asked)).entries()) {
      if (plain === undefined || isPublic(toBlobId(control, plain))) continue;
      const secret = toPlainSecret(group[at]?.path ?? '', filter, plain);
      if (secret !== undefined) secrets.push(secret);
    }
  }
  return secrets;
}

/** The secret that the content is, or has the whole of. */
export function findSecret(secrets: readonly PlainSecret[], content: Buffer): PlainSecret | undefined {
  const own = trim(content);
  return secrets.find(({ text }) =>
    text.length < LEAST_BYTES_INSIDE ? own.equals(text) : own.length >= text.length && own.includes(text),
  );
}

const BLANKS: ReadonlySet<number | undefined> = new Set([0x09, 0x0a, 0x0d, 0x20]);

function trim(content: Buffer): Buffer {
  let [from, to] = [0, content.length];
  while (from < to && BLANKS.has(content[from])) from += 1;
  while (to > from && BLANKS.has(content[to - 1])) to -= 1;
  return content.subarray(from, to);
}

export function toBlobId({ object_format }: ControlGit, content: Uint8Array): string {
  return createHash(object_format).update(`blob ${content.length}\0`).update(content).digest('hex');
}
