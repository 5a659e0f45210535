import { closeSync, constants, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { toSlug } from '#domain/attempt-names.ts';
import { LIMITS } from '#kernel/limits.ts';

/** A folder of `.genie/wishes`, and the issue that its file names. */
export interface Wish {
  readonly slug: string;
  readonly github_issue: number | undefined;
}

/**
 * The wish that an attempt is for: the one whose name holds that of the attempt (`35a4-test-forge-metad`), else the
 * longest whose name is part of the task's title. The first of the folders that has one wins.
 */
export function findWish(
  folders: readonly string[],
  work: { readonly name: string; readonly title: string },
): Wish | undefined {
  for (const folder of folders) {
    const wishes = join(folder, '.genie', 'wishes');
    const slug = pickSlug(listFolders(wishes), work);
    if (slug !== undefined) return { slug, github_issue: findIssue(join(wishes, slug, `${slug}-wish.md`)) };
  }
  return undefined;
}

function pickSlug(
  slugs: readonly string[],
  { name, title }: { readonly name: string; readonly title: string },
): string | undefined {
  const short = name.slice(name.indexOf('-') + 1);
  const holding = slugs.find((slug) => slug.includes(short));
  if (holding !== undefined) return holding;
  const words = `-${toSlug(title, Number.POSITIVE_INFINITY)}-`;
  const named = slugs.filter((slug) => words.includes(`-${slug}-`));
  return named.toSorted((a, b) => b.length - a.length)[0];
}

function listFolders(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
  } catch {
    return [];
  }
}

/** `GitHub issue: #42`, `issue: 42` or the address of one, in the beginning of the file. */
function findIssue(path: string): number | undefined {
  const text = readBeginning(path);
  const [, found] =
    /github\.com\/[\w.-]+\/[\w.-]+\/issues\/(\d{1,15})\b/i.exec(text) ??
    /\bissue\b[^\n\d]{0,20}?#?(\d{1,15})\b/i.exec(text) ??
    [];
  return found === undefined || Number(found) === 0 ? undefined : Number(found);
}

function readBeginning(path: string): string {
  let file: number;
  try {
    // Not waited for, whatever stands there in the place of a file.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const buffer = Buffer.alloc(LIMITS.wish_bytes);
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return '';
  } finally {
    closeSync(file);
  }
}
