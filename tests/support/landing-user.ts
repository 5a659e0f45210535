import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { seededRandom } from './random.ts';
import { testGitEnv } from './temp-repo.ts';

/**
 * A person at work in a checkout of main, with a pause of 60 to 260 ms between commands: commits of staged files, of
 * all changes, stashes, and another branch and back; which and how long, the seed says. A command that fails is repeated, as a person would. Ends on
 * SIGTERM with what was acknowledged on its output.
 */
const [folder = '', slowest = '260', seed = ''] = process.argv.slice(2);
const random = seededRandom(Number(seed));
// Of its own: how often a command meets a lock is up to the machine, and must not change what comes after it.
const patience = seededRandom(Number(seed) + 1);
const report = {
  commands: 0,
  /** Failed with git's sentence about a lock. */
  met_lock: 0,
  /** Failed because the branch had moved since git read it. */
  met_move: 0,
  /** What git said then, and how often. */
  met: {} as Record<string, number>,
  failed_again: 0,
  failed_otherwise: [] as string[],
  /** Files of commits that git acknowledged, by branch. */
  committed: { main: [] as string[], other: [] as string[] },
};
const LOCK =
  /index\.lock|cannot lock ref|HEAD\.lock|\.lock': File exists|unable to write new index|could not write index/i;
let stopped = false;
process.on('SIGTERM', () => (stopped = true));

function git(...args: string[]): Promise<{ ok: boolean; stderr: string }> {
  return new Promise((done) => {
    execFile('git', args, { cwd: folder, env: testGitEnv() }, (error, stdout, stderr) =>
      done({ ok: error === null, stderr: stderr + stdout }),
    );
  });
}

async function run(...args: string[]): Promise<boolean> {
  for (let tries = 0; tries < 20; tries += 1) {
    report.commands += 1;
    const { ok, stderr } = await git(...args);
    if (ok) return true;
    // A stash whose reset or refresh meets the lock says nothing.
    const isSilent = stderr.trim() === '' && args[0] === 'stash';
    if (!LOCK.test(stderr) && !isSilent) {
      report.failed_otherwise.push(`${args.join(' ')}: ${stderr.trim().slice(0, 200)}`);
      return false;
    }
    const met = `${args[0]}: ${/'[^']*\.lock'|but expected/.exec(stderr)?.[0].replace(folder, '') ?? '(nothing)'}`;
    report.met[met] = (report.met[met] ?? 0) + 1;
    if (/but expected/.test(stderr)) report.met_move += 1;
    else report.met_lock += 1;
    if (tries > 0) report.failed_again += 1;
    await setTimeout(60 + patience.below(100));
  }
  report.failed_otherwise.push(`${args.join(' ')}: never went`);
  return false;
}

const pause = (): Promise<void> => setTimeout(60 + random.below(Number(slowest) - 60));
let branch: 'main' | 'other' = 'main';
let count = 0;

function put(name: string, text: string): void {
  mkdirSync(join(folder, 'user'), { recursive: true });
  writeFileSync(join(folder, name), text);
}

async function commitNew(): Promise<void> {
  const name = `user/${(count += 1)}.txt`;
  put(name, `${name}\n`);
  if (!(await run('add', name))) return;
  if (await run('commit', '--quiet', '-m', `add ${name}`)) report.committed[branch].push(name);
}

async function commitAll(): Promise<void> {
  put('user/edited.txt', `${(count += 1)}\n`);
  await run('commit', '--quiet', '-a', '-m', `edit ${count}`);
}

async function stash(): Promise<void> {
  put('user/edited.txt', `stashed ${(count += 1)}\n`);
  if (!(await run('stash', 'push', '--quiet'))) return;
  await pause();
  await run('stash', 'pop', '--quiet');
  await run('commit', '--quiet', '-a', '-m', `unstashed ${count}`);
}

async function addOnly(): Promise<void> {
  const name = `user/${(count += 1)}.txt`;
  put(name, `${name}\n`);
  await run('add', name);
  await pause();
  if (await run('commit', '--quiet', '-m', `added before: ${name}`)) report.committed[branch].push(name);
}

async function goAndBack(): Promise<void> {
  if (!(await run('switch', '--quiet', 'other'))) return;
  branch = 'other';
  await pause();
  await commitNew();
  await pause();
  if (await run('switch', '--quiet', 'main')) branch = 'main';
}

const ACTIONS = [commitNew, commitNew, commitNew, commitNew, commitAll, commitAll, stash, addOnly, goAndBack];
while (!stopped) {
  await random.pick(ACTIONS)();
  await pause();
}
process.stdout.write(JSON.stringify(report));
