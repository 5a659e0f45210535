import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What lies outside of the repository, and must stay as it is. */
const TREASURE = { 'notes.txt': 'mine\n', 'config.json': '{"mine":true}\n' };

/** Where marks are left, and files that a link in a repository may lead to. */
export function makeMarks(outside: string): void {
  mkdirSync(join(outside, 'marks'), { recursive: true });
  layTreasure(outside);
}

export function toMark(outside: string, name: string): string {
  return join(outside, 'marks', name);
}

export function toTreasure(outside: string): string {
  return join(outside, 'treasure');
}

const COUNTERS = ['/proc/net/snmp', '/proc/net/snmp6'];

/**
 * Packets that the processes of this network namespace have sent, or wanted to send where there was no way. Counted by
 * the kernel, so whatever program it was is seen.
 */
export function readPackets(): number {
  return countPackets(COUNTERS.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')).join(''));
}

/** The same of what these files say. */
export function countPackets(text: string): number {
  const [names = '', values = ''] = text.split('\n').filter((line) => line.startsWith('Ip:'));
  const counts = values.split(' ');
  const four = names
    .split(' ')
    .map((name, at) => (['OutRequests', 'OutNoRoutes'].includes(name) ? Number(counts[at]) : 0));
  const six = [...text.matchAll(/^Ip6(?:OutRequests|OutNoRoutes)\s+(\d+)\s*$/gm)].map(([, count]) =>
    Number(count),
  );
  return [...four, ...six].reduce((sum, one) => sum + one, 0);
}

/** A script of a shell that runs its first argument and prints those counters. */
export const COUNTING = `(eval "$1") > /dev/null 2>&1; cat ${COUNTERS.join(' ')}`;

/** The words before a command for a network namespace of its own, in which only the loopback is up. */
export const ALONE: readonly string[] = [
  'unshare',
  '-n',
  ...(process.getuid?.() === 0 ? [] : ['-r']),
  'sh',
  '-c',
  'ip link set lo up && exec "$@"',
  'sh',
];

/** Undefined where a command can have a network of its own; else why not. */
export const WHY_NOT_ALONE = findObstacle();

function findObstacle(): string | undefined {
  const [program, ...args] = [...ALONE, 'true'];
  const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error !== undefined) return 'unshare is not installed';
  return status === 0 ? undefined : `no network namespace here: ${stderr.trim()}`;
}

/** What has run, and what was changed outside, since the last look. */
export function takeMarks(outside: string): string[] {
  const marks = join(outside, 'marks');
  const ran = readdirSync(marks);
  for (const name of ran) rmSync(join(marks, name), { recursive: true });
  const changed = findChanges(toTreasure(outside));
  if (changed.length > 0) layTreasure(outside);
  return [...ran, ...changed.map((name) => `changed ${name}`)].sort();
}

function layTreasure(outside: string): void {
  const folder = toTreasure(outside);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries(TREASURE)) writeFileSync(join(folder, name), text);
}

function findChanges(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return ['treasure'];
  const there = readdirSync(folder);
  const wrong = Object.entries(TREASURE).filter(
    ([name, text]) => !there.includes(name) || readFileSync(join(folder, name), 'utf8') !== text,
  );
  const more = there.filter((name) => !(name in TREASURE));
  return [...wrong.map(([name]) => name), ...more];
}
