import { editedLine } from '#domain/edited-line.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import { digestRecord } from '#domain/record-digests.ts';
import { isSealed } from '#domain/record-seal.ts';
import type { PutBackLine } from '#domain/taken-back.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { readBlob } from '#git/read-blob.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { findTakenBack } from './find-taken-back.ts';
import { splitText } from './read-file-lines.ts';
import { TASKS_PATH } from './task-files.ts';

/** Of each side of a merge: the edited lines of the common ancestor that a commit of that side changed back. */
export interface ChangedBack {
  readonly ours: ReadonlySet<string>;
  readonly theirs: ReadonlySet<string>;
}

/** Git names the heads that it merges so, with the id of the commit behind it. */
const MERGED_HEAD = /^GITHEAD_([0-9a-f]{40,64})$/;

/**
 * Where Forge wrote a line anew on a side that has nothing of an edit of it, a commit may have changed the edit back before.
 * Or the line is of a branch to which the edit never came, and a person took it whole where a server could not merge: that
 * says nothing of the edit. Only the commits of the side tell which.
 */
export async function findChangedBack(
  repo: GitRepo,
  { base, ours, theirs }: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<ChangedBack> {
  const edited = [...splitText(base)].flatMap(({ text }) => readEdited(text) ?? []);
  const heads = Object.keys(repo.env ?? {}).flatMap((name) => MERGED_HEAD.exec(name)?.[1] ?? []);
  const find = async (side: string, revs: readonly string[]): Promise<ReadonlySet<string>> => {
    const lines = edited.filter(
      ({ text, seal }) => !side.includes(`${text}\n`) && !side.includes(`"${seal}:`),
    );
    if (lines.length === 0) return new Set();
    const own = await findHolders(repo, side, revs);
    // The text that a commit left in its place is not asked for, and the line is named by the edit.
    const found = own.length === 0 ? [] : await findTakenBack(lines, { repo, revs: own });
    const named = new Set(found.map(({ seal, last }) => `${seal}:${last}`));
    return new Set(lines.flatMap(({ text, seal, last }) => (named.has(`${seal}:${last}`) ? [text] : [])));
  };
  return { ours: await find(ours, ['HEAD']), theirs: await find(theirs, heads) };
}

/** With `switch -m` and the like a side is not what a commit has. */
async function findHolders(repo: GitRepo, side: string, revs: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const rev of revs)
    if ((await readBlob(repo, rev, TASKS_PATH))?.toString('utf8') === side) found.push(rev);
  return found;
}

/** Undefined for a line as Forge wrote it, and for one that says nothing of the line it was made of. */
function readEdited(text: string): PutBackLine | undefined {
  if (isSealed(text)) return undefined;
  try {
    const json = parseJson(text, 'The line') as JsonObject;
    const record = decodeRecord(json);
    const edited = editedLine(text, json, record);
    if (edited?.written === undefined) return undefined;
    return { text, seal: edited.seal, last: digestRecord(record), overwritten: true };
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}
