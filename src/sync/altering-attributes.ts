import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/** An attribute by which git would store or write other bytes of a task file than Forge did, or merge it without Forge. */
interface Altering {
  readonly path: string;
  /** As in an attributes file: `filter=lfs`. */
  readonly attribute: string;
  /** False: only where a clone has not got Forge's lines in its own attributes. */
  readonly here: boolean;
}

/** What counts here, and what counts in a clone without Forge, which has the attributes of the working tree alone. */
export async function listAltering(repo: GitRepo): Promise<Altering[]> {
  const here = await checkAttributes(repo);
  if (here.length > 0) return here.map((one) => ({ ...one, here: true }));
  const folder = await mkdtemp(join(tmpdir(), 'forge-attributes-'));
  try {
    const { exit } = await askGit(repo, ['init', '--quiet', '--bare', '--template=', folder]);
    if (exit !== 0) return [];
    const there = await checkAttributes(repo, { GIT_DIR: folder, GIT_WORK_TREE: repo.worktree });
    return there.map((one) => ({ ...one, here: false }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const ALTERING_HINT = `git check-attr --all ${TASKS_PATH} (take the line out, or put Forge's lines behind it)`;

export function describeAltering(found: readonly Altering[]): string {
  const attributes = [...new Set(found.map(({ path, attribute }) => `${path} ${attribute}`))].join(', ');
  const where = found.some(({ here }) => here) ? '' : ' in clones without Forge';
  return `git changes the task files by attributes that stand behind Forge's lines${where}: ${attributes}`;
}

const ASKED = ['filter', 'ident', 'working-tree-encoding', 'merge'];
const PLAIN = new Set(['unspecified', 'unset']);

async function checkAttributes(
  repo: GitRepo,
  more_env?: Readonly<Record<string, string>>,
): Promise<Omit<Altering, 'here'>[]> {
  const args = ['check-attr', '-z', '--stdin', ...ASKED];
  const input = [TASKS_PATH, HISTORY_PATH].map((path) => `${path}\0`).join('');
  const { stdout } = await askGit(repo, args, { input, ...(more_env !== undefined && { more_env }) });
  const fields = stdout.split('\0');
  const found: Omit<Altering, 'here'>[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', name = '', value = ''] = fields.slice(at, at + 3);
    const isPlain = name === 'merge' ? value === 'forge' : PLAIN.has(value);
    if (!isPlain) found.push({ path, attribute: value === 'set' ? name : `${name}=${value}` });
  }
  return found;
}
