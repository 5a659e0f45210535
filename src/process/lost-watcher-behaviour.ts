import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { ContainmentKind } from './process-host.ts';
import { listRunning, newSleep } from './run-behaviour.ts';

/** Somebody else than root, who needs no account. */
export const OTHER_UID = 12_345;

/** As whom watchers are tried. */
export const WATCHER_USERS = [
  { who: 'this user', uid: undefined },
  { who: 'another user', uid: process.getuid?.() === OTHER_UID ? undefined : OTHER_UID },
] as const;

/** So long after its watcher at most. */
const OUTLIVES_MS = 2_000;

interface Survivor {
  readonly name: string;
  /** The script of a program that tries to outlive its watcher; `stop` is a file that ends it in the end. */
  script(sleep: string, stop: string): string;
  readonly not?: readonly ContainmentKind[];
}

/**
 * Each link starts the next, and ends: a look at the processes finds one only by luck, so each says in a file that it
 * was there. It ends when the file `stop` is there, so that a test that fails leaves nothing.
 */
const chain = (sleep: string, stop: string): string => {
  const link = `[ -e ${stop} ] || { echo >> ${stop}.links; sleep 0.01; env -i /usr/bin/setsid /bin/sh -c "$1" chain "$1" ${sleep} </dev/null >/dev/null 2>&1 & }`;
  return `chain='${link}'; sh -c "$chain" chain "$chain" ${sleep}; sleep ${sleep}`;
};

/** Where a program that may do so goes first: the group of the whole machine. */
const FIRST_GROUP = /^\S+ (\S+) cgroup2 /m.exec(readOrEmpty('/proc/mounts'))?.[1] ?? '/sys/fs/cgroup';

export const SURVIVORS: readonly Survivor[] = [
  { name: 'has a plain child', script: (sleep) => `sleep ${sleep} & sleep ${sleep}` },
  {
    name: 'has a child in a session of its own',
    script: (sleep) => `setsid sleep ${sleep} & sleep ${sleep}`,
  },
  {
    name: 'forks twice into a session of its own',
    script: (sleep) =>
      `setsid sh -c '(sleep ${sleep} &); (setsid nohup sleep ${sleep} >/dev/null 2>&1 &)' & sleep ${sleep}`,
  },
  {
    name: 'forks twice, empties the environment, closes all files and ignores all signals',
    script: (sleep) =>
      `(env -i PATH="$PATH" setsid sh -c 'trap "" HUP INT QUIT TERM USR1 USR2 ALRM PIPE; exec <&- >&- 2>&-; (sleep ${sleep} &)' &); trap '' HUP TERM INT; sleep ${sleep}`,
    not: ['marker'],
  },
  { name: 'is a chain of forks, sessions and empty environments', script: chain, not: ['marker'] },
  {
    name: 'leaves its group first',
    script: (sleep, stop) => `echo $$ > ${FIRST_GROUP}/cgroup.procs 2>/dev/null; ${chain(sleep, stop)}`,
    not: ['marker', 'cgroup'],
  },
];

const PROCESS_ROOM = new URL('./', import.meta.url).href;

export interface LostWatcher {
  readonly kind: ContainmentKind;
  /** As whom it runs; this user where it is left out. */
  readonly uid?: number | undefined;
  /** What it starts, each in a run of its own. */
  readonly commands: readonly (readonly string[])[];
  /** A line of its program, in which `host` and `start()` are known. */
  readonly task: string;
}

/** A process that supervises; it says its containment, and does what `task` says when a line comes in. */
export async function startWatcher({ kind, uid, commands, task }: LostWatcher) {
  const program = `
    import { openProcessHost } from '${PROCESS_ROOM}process-host.ts';
    import { startSupervised } from '${PROCESS_ROOM}supervise.ts';
    const host = await openProcessHost({ accept: ['${kind}'] });
    const limits = { total_ms: 1e9, idle_ms: 1e9, output_bytes: 1e9 };
    const env = { PATH: process.env.PATH };
    const start = () => Promise.all(${JSON.stringify(commands)}.map((argv, at) =>
      startSupervised({ argv, cwd: '/', env, stdin: 'none', host, limits,
        marker: { name: 'FORGE_TEST_RUN', value: '${randomUUID()}-' + at } }, { line() {} })));
    const die = () => process.kill(process.pid, 'SIGKILL');
    process.stdout.write(host.containment.kind + '\\n');
    await new Promise((go) => process.stdin.once('data', go));
    ${task}
    setInterval(() => {}, 1e6);`;
  const node = [process.execPath, '--input-type=module', '-e', program];
  const [command = '', ...args] = uid === undefined ? node : [...asUser(uid, kind), ...node];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [said]: unknown[] = await once(child.stdout, 'data');
  return { child, ended, kind: String(said).trim() };
}

function asUser(uid: number, kind: ContainmentKind): readonly string[] {
  const become = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
  const group = kind === 'cgroup' ? makeGroup(uid) : undefined;
  if (group === undefined) return become;
  return ['/bin/sh', '-c', 'echo 0 > "$1/cgroup.procs"; shift; exec "$@"', 'enter', group, ...become];
}

/** A control group that is the user's, as systemd gives one to each; undefined where none can be made. */
function makeGroup(uid: number): string | undefined {
  const folder = join(FIRST_GROUP, `forge-test-${randomUUID()}`);
  try {
    mkdirSync(folder);
    for (const path of [folder, join(folder, 'cgroup.procs')]) chownSync(path, uid, uid);
  } catch {
    return undefined;
  }
  onTestFinished(async () => {
    const remove = (): boolean => {
      for (const name of readdirSync(folder, { withFileTypes: true }))
        if (name.isDirectory()) rmdirSync(join(folder, name.name));
      rmdirSync(folder);
      return true;
    };
    await vi.waitUntil(() => tryTo(remove), { timeout: 2_000 }).catch(() => undefined);
  });
  return folder;
}

function tryTo(work: () => boolean): boolean {
  try {
    return work();
  } catch {
    return false;
  }
}

/** Why this cannot be tried as another user here; undefined where it can. */
export function whyNotAs(uid: number | undefined): string | undefined {
  if (uid === undefined) return undefined;
  if (process.getuid?.() !== 0) return 'only root can become another user';
  return existsSync('/usr/bin/setpriv') ? undefined : 'there is no setpriv here';
}

/** Starts all of them under one watcher, kills it, and wants nothing of any of them to be there two seconds later. */
export async function expectNoneOutlives(
  watcher: Pick<LostWatcher, 'kind' | 'uid'>,
  context: { skip(note?: string): void },
): Promise<void> {
  const why = whyNotAs(watcher.uid);
  if (why !== undefined) return context.skip(why);
  const stop = newStop();
  const agents = SURVIVORS.filter(({ not }) => not?.includes(watcher.kind) !== true).map((one) => {
    const sleep = newSleep();
    return { ...one, sleep, argv: ['/bin/sh', '-c', one.script(sleep, stop)] };
  });
  const started = await startWatcher({
    ...watcher,
    commands: agents.map(({ argv }) => argv),
    task: 'await start();',
  });
  if (started.kind !== watcher.kind) return context.skip(`no ${watcher.kind} here`);
  started.child.stdin.write('go\n');
  // A scan that sees nothing would find nobody left of anything.
  for (const { sleep } of agents)
    await vi.waitUntil(() => listRunning(sleep).length > 0, { timeout: 15_000 });
  if (watcher.kind !== 'marker') await vi.waitUntil(() => countLinks(stop) > 10, { timeout: 15_000 });
  await new Promise((go) => setTimeout(go, 300));
  started.child.kill('SIGKILL');
  await started.ended;
  const killed = performance.now();
  await vi
    .waitUntil(() => agents.every(({ sleep }) => listRunning(sleep).length === 0), {
      timeout: OUTLIVES_MS,
      interval: 20,
    })
    .catch(() => undefined);
  const left = agents.filter(({ sleep }) => listRunning(sleep).length > 0).map(({ name }) => name);
  expect({ left, in_time: performance.now() - killed < OUTLIVES_MS + 500 }).toEqual({
    left: [],
    in_time: true,
  });
  // A link of a chain may have been between two looks.
  await expectNoMoreLinks(stop);
}

async function expectNoMoreLinks(stop: string): Promise<void> {
  const before = countLinks(stop);
  await new Promise((go) => setTimeout(go, 300));
  expect(countLinks(stop) - before).toBe(0);
}

function countLinks(stop: string): number {
  return readOrEmpty(`${stop}.links`).length;
}

/** Planted: what a mark alone cannot hold does outlive its watcher, and is seen to. */
export async function expectChainOutlives(kind: 'marker'): Promise<void> {
  const stop = newStop();
  const commands = [['/bin/sh', '-c', chain(newSleep(), stop)]];
  const { child, ended } = await startWatcher({ kind, commands, task: 'await start();' });
  child.stdin.write('go\n');
  await vi.waitUntil(() => countLinks(stop) > 5, { timeout: 15_000 });
  child.kill('SIGKILL');
  await ended;
  await new Promise((go) => setTimeout(go, OUTLIVES_MS));
  const before = countLinks(stop);
  await vi.waitUntil(() => countLinks(stop) > before, { timeout: 5_000 }).catch(() => undefined);
  expect(countLinks(stop)).toBeGreaterThan(before);
}

/** A file whose being there ends every chain; it is made when the test is over. */
export function newStop(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forge-stop-'));
  chmodSync(folder, 0o777);
  const stop = join(folder, 'stop');
  onTestFinished(async () => {
    writeFileSync(stop, '');
    await new Promise((go) => setTimeout(go, 200));
    rmSync(folder, { recursive: true, force: true });
  });
  return stop;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A watcher that dies while it starts programs leaves none of them, nor anything that was to become one. */
export async function expectNothingStarted(
  watcher: Omit<LostWatcher, 'commands'>,
  context: { skip(note?: string): void },
): Promise<void> {
  const why = whyNotAs(watcher.uid);
  if (why !== undefined) return context.skip(why);
  const sleep = newSleep();
  // The word stands among the arguments of everything that is between the watcher and the program, too.
  const commands = Array.from({ length: 4 }, () => ['/bin/sleep', sleep]);
  const { child, ended, kind } = await startWatcher({ ...watcher, commands });
  if (kind !== watcher.kind) return context.skip(`no ${watcher.kind} here`);
  child.stdin.write('go\n');
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
  await vi.waitUntil(() => listRunning(sleep).length === 0, { timeout: 2_000, interval: 20 }).catch(() => {});
  expect(listRunning(sleep)).toEqual([]);
}
