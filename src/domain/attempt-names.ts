import { dropEnd } from '#kernel/text.ts';

/** The shortest beginning of an attempt's id that stands in its name, and by how much it grows on a clash. */
const PREFIX = 4;
const STEP = 2;
const SLUG_LENGTH = 16;

/** `test-forge-metad`: what a folder, a branch and a shell can all hold, whatever the title says. */
export function toSlug(title: string, length = SLUG_LENGTH): string {
  const words = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  return dropEnd(words.slice(0, length), '-') || 'task';
}

/**
 * `35a4-test-forge-metad`, then with longer beginnings of the id: the first that no attempt has is this one's.
 * The names of branches are pushed: the title comes redacted.
 */
export function listAttemptNames(attemptId: string, title: string): string[] {
  const digits = attemptId.replaceAll('-', '');
  const slug = toSlug(title);
  const names: string[] = [];
  for (let length = PREFIX; length <= digits.length; length += STEP)
    names.push(`${digits.slice(0, length)}-${slug}`);
  return names;
}

export const BRANCH_FOLDER = 'forge/';

/** What may be the name of an attempt in `forge/<name>`, a path, or by itself. */
export function parseAttemptName(text: string): string | undefined {
  const name = text.startsWith(BRANCH_FOLDER) ? text.slice(BRANCH_FOLDER.length) : text;
  return /^[0-9a-f]{4,32}-[a-z0-9-]{1,16}$/.test(name) ? name : undefined;
}
