import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepo } from '#git/ask-git.ts';
import { countAhead } from '#git/push-target.ts';
import { replaceFile } from './place-file.ts';
import { readHomeFile } from './home-file.ts';

/** A branch that has to be pushed: written before the push begins, and removed when it is done. */
export interface PushRecord {
  readonly branch: string;
  /** The landing that is pushed. */
  readonly commit: string;
  readonly task_id: string;
  readonly tries: number;
  /** In milliseconds: it is not tried again before. */
  readonly next_at: number;
  /** Of the last try; null before the first. */
  readonly why: string | null;
  readonly next: string | null;
}

const FOLDER = 'pushes';

/** All that wait, by `<common>/forge/pushes/`. A file that nobody can read counts as none. */
export function listPushRecords(storeDir: string): PushRecord[] {
  const folder = join(storeDir, FOLDER);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().flatMap((name) => parseRecord(readHomeFile(folder, name)) ?? []);
}

export function writePushRecord(storeDir: string, record: PushRecord): void {
  mkdirSync(join(storeDir, FOLDER), { recursive: true });
  replaceFile(toFile(storeDir, record.branch), `${JSON.stringify(record, undefined, 2)}\n`);
}

export function removePushRecord(storeDir: string, { branch }: Pick<PushRecord, 'branch'>): void {
  rmSync(toFile(storeDir, branch), { force: true });
}

function toFile(storeDir: string, branch: string): string {
  return join(storeDir, FOLDER, `${encodeURIComponent(branch)}.json`);
}

function parseRecord(text: string | undefined): PushRecord | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is PushRecord {
  if (typeof value !== 'object' || value === null) return false;
  const one: Readonly<Record<string, unknown>> = { ...value };
  const isText = (name: string): boolean => typeof one[name] === 'string';
  return (
    ['branch', 'commit', 'task_id'].every(isText) &&
    ['tries', 'next_at'].every((name) => typeof one[name] === 'number') &&
    ['why', 'next'].every((name) => one[name] === null || isText(name))
  );
}

/** `main is 2 commits ahead of origin/main: the push was rejected: …`. */
export async function describePush(repo: GitRepo, { branch, why }: PushRecord): Promise<string> {
  const ahead = await countAhead(repo, branch);
  const reason = why ?? 'it waits to be pushed';
  if (ahead === undefined) return `${branch} was not pushed: ${reason}`;
  const { count, upstream } = ahead;
  const where = upstream.tracking.replace(/^refs\/remotes\//, '');
  return `${branch} is ${count} commit${count === 1 ? '' : 's'} ahead of ${where}: ${reason}`;
}
