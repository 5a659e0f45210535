import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LandingStep } from '#git/landing-place.ts';
import { landTarget } from '#git/land-target.ts';
import { type GitPlace, gitPlace } from './git-places.ts';
import { witness } from './landing-witness.ts';
import { runTestGit } from './temp-repo.ts';

const USER = fileURLToPath(new URL('./landing-user.ts', import.meta.url));

export interface BesideUser {
  /** By which the user did what it did. */
  readonly seed: number;
  readonly landed: number;
  /** Tries that ended with another outcome, by its name. */
  readonly others: Readonly<Record<string, number>>;
  readonly commands: number;
  readonly met_lock: number;
  readonly met_move: number;
  readonly met: Readonly<Record<string, number>>;
  readonly failed_again: number;
  readonly failed_otherwise: readonly string[];
  readonly user_commits: number;
  readonly polluted: readonly string[];
  readonly lost: readonly string[];
  readonly undone: readonly string[];
  readonly stashes: number;
  readonly left: readonly string[];
  readonly lock_median_ms: number;
  readonly lock_p99_ms: number;
}

/** Lands so many commits, each of 20 changed files and a new one, while a person works in the checkout. */
export async function landBesideUser(
  landings: number,
  { seed, slowest_ms = 260 }: { readonly seed: number; readonly slowest_ms?: number },
): Promise<BesideUser> {
  await using place = await gitPlace();
  await fill(place);
  const user = spawn(process.execPath, [USER, place.path, String(slowest_ms), String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  user.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(user, 'close');
  const locks = watchLocks();
  const landed: { readonly commit: string; readonly file: string }[] = [];
  const others: Record<string, number> = {};
  try {
    while (landed.length < landings) {
      // Few names: a switch of branches must not take longer from landing to landing.
      const file = `agent/new-${landed.length % 30}.txt`;
      const old = place.git('rev-parse', 'main');
      const commit = makeCommit(place, old, { file, text: `landing ${landed.length}\n` });
      const request = {
        branch: 'main',
        old,
        commit,
        witness,
        on_step: (step: LandingStep) => locks.note(step),
      };
      const { kind } = await landTarget(place.repo, request);
      if (kind === 'landed') landed.push({ commit, file });
      else others[kind] = (others[kind] ?? 0) + 1;
      if (user.exitCode !== null) throw new Error(`the user of seed ${seed} has gone`);
    }
    await setTimeout(300);
  } finally {
    user.kill('SIGTERM');
    await ended;
  }
  const report = JSON.parse(said) as Report; // Written by the script above.
  const { committed, ...figures } = report;
  return {
    seed,
    landed: landed.length,
    others,
    ...figures,
    ...judge(place, landed, committed),
    ...locks.measure(),
  };
}

interface Report extends Pick<
  BesideUser,
  'commands' | 'met_lock' | 'met_move' | 'met' | 'failed_again' | 'failed_otherwise'
> {
  readonly committed: Readonly<Record<'main' | 'other', readonly string[]>>;
}

async function fill(place: GitPlace): Promise<void> {
  for (let at = 0; at < 300; at += 1) await place.write(`src/${at}.txt`, `${at}\n`);
  for (let at = 0; at < 20; at += 1) await place.write(`agent/${at}.txt`, 'first\n');
  await place.write('user/edited.txt', 'first\n');
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'filled');
  place.git('branch', 'other');
}

function makeCommit(place: GitPlace, old: string, { file, text }: { file: string; text: string }): string {
  const env = { GIT_INDEX_FILE: join(place.repo.git_dir, 'agent-index'), GIT_AUTHOR_NAME: 'agent' };
  const git = (args: readonly string[], input?: string): string =>
    runTestGit(place.path, args, env, input).trim();
  const blob = git(['hash-object', '-w', '--stdin'], text);
  git(['read-tree', old]);
  const paths = [...Array.from({ length: 20 }, (_, at) => `agent/${at}.txt`), file];
  git(['update-index', '--index-info'], paths.map((path) => `100644 ${blob}\t${path}\n`).join(''));
  return git(['commit-tree', '-p', old, '-m', `land ${file}`, git(['write-tree'])]);
}

function watchLocks() {
  const held: number[] = [];
  let since: number | undefined;
  return {
    note(step: LandingStep) {
      if (step === 'locked') since = performance.now();
      if (step !== 'freed' || since === undefined) return;
      held.push(performance.now() - since);
      since = undefined;
    },
    measure() {
      const sorted = held.toSorted((a, b) => a - b);
      const at = (share: number): number =>
        Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1));
      return { lock_median_ms: at(0.5), lock_p99_ms: at(0.99) };
    },
  };
}

function judge(
  place: GitPlace,
  landed: readonly { readonly commit: string; readonly file: string }[],
  committed: Report['committed'],
): Pick<BesideUser, 'polluted' | 'lost' | 'undone' | 'user_commits' | 'stashes' | 'left'> {
  const log = place.git('log', '--branches', '--format=%x00%H %an', '--name-only', '--no-renames');
  const commits = log.split('\0').flatMap((text) => {
    const [head = '', ...paths] = text.split('\n').filter((line) => line !== '');
    const [oid = '', author] = head.split(' ');
    return author === 'Test' ? [{ oid, paths }] : [];
  });
  const polluted = commits.filter(({ paths }) => paths.some((path) => path.startsWith('agent/')));
  const reachable = new Set(place.git('rev-list', 'main').split('\n'));
  const inTree = (branch: string): ReadonlySet<string> =>
    new Set(place.git('ls-tree', '-r', '--name-only', branch).split('\n'));
  const [main, other] = [inTree('main'), inTree('other')];
  return {
    user_commits: commits.length,
    polluted: polluted
      .filter(({ oid }) => !isFirst(place, oid))
      .map(({ oid, paths }) => `${oid}: ${paths.join(' ')}`),
    lost: [
      ...committed.main.filter((name) => !main.has(name)),
      ...committed.other.filter((name) => !other.has(name)),
    ],
    undone: landed.flatMap(({ commit, file }) => (reachable.has(commit) && main.has(file) ? [] : [commit])),
    stashes: place
      .git('stash', 'list')
      .split('\n')
      .filter((line) => line !== '').length,
    left: ['index.lock', 'HEAD.lock', 'refs/heads/main.lock', 'forge/landing'].filter((name) =>
      existsSync(join(place.repo.git_dir, name)),
    ),
  };
}

/** The commits before the race. */
function isFirst(place: GitPlace, oid: string): boolean {
  return ['first', 'filled'].includes(place.git('log', '-1', '--format=%s', oid));
}
