import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { findRepository } from '#git/find-repository.ts';

/** The text of a working tree's HEAD; empty where it cannot be read. No process. */
export function readHeadText(root: string): string {
  try {
    const head = join(findRepository(root)?.git_dir ?? join(root, '.git'), 'HEAD');
    return readPlainFile(head)?.toString('utf8') ?? '';
  } catch {
    return '';
  }
}

/**
 * Whether HEAD may be at what an agent committed: on the branch of an attempt, on none, or where only git can tell (a
 * repository with reftables). Files there that differ from what people had last are not theirs until git was asked.
 */
export function mayBeAttempt(head: string): boolean {
  if (!head.startsWith('ref:')) return head !== '';
  return head.includes(`refs/heads/${BRANCH_FOLDER}`) || head.includes('refs/heads/.invalid');
}
