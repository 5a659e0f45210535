import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { goneProcess } from '../../tests/support/dying-store.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { findWorkspace, openControl, openWorkspace } from './attempt-workspace.ts';
import { FolderLocks, LOCK_FILE } from './folder-locks.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

const attemptOf = async ({ id }: Task): Promise<Attempt> => {
  const found = (await shop.place.store.listAttempts({ task_id: id })).at(-1);
  if (found === undefined) throw new Error('no attempt');
  return found;
};
const read = (attempt: Attempt, file: string): string => readFileSync(join(attempt.path, file), 'utf8');
const ignored = (attempt: Attempt): string =>
  runTestGit(attempt.path, ['status', '--porcelain', '--ignored']);
const again = async (task: Task): Promise<void> => {
  await shop.move(task, 'in_progress');
};

describe('the folder of an attempt', () => {
  it('is set up by the project as it is now before an agent goes on in it', async () => {
    shop.addAgent('w1', 'cat made >> seen; echo >> seen');
    await shop.repo.write('.git/info/exclude', 'made\n');
    shop.set({ workspace: { setup: ['printf first > made'] } });
    const task = await shop.create('Set up again');
    await shop.work(task, 'w1');
    shop.set({ workspace: { setup: ['printf second > made'] } });
    await again(task);
    expect(read(await attemptOf(task), 'seen')).toBe('first\nsecond\n');
    shop.set({ workspace: { setup: [] } });
  });

  it('has ports of its own where the project wants some', async () => {
    shop.addAgent('w1', 'echo x > x');
    const portOf = async (ports: number): Promise<number | null> => {
      shop.set({ workspace: { ports } });
      const task = await shop.create(`Ports ${ports}`);
      await openWorkspace(shop.place, { task, agent: 'w1' });
      return (await attemptOf(task)).port;
    };
    expect(await portOf(0)).toBeNull();
    expect(await portOf(2)).toEqual(expect.any(Number));
    shop.set({ workspace: { ports: 0 } });
  });

  it('is set up once, again when what the set-up is for has changed, and when it is made again', async () => {
    await shop.repo.write('.env', 'secret');
    await shop.repo.write('.git/info/exclude', '.env\nlog\n');
    shop.set({
      workspace: {
        copy: ['.env'],
        setup: ['echo "$(cat lock 2>/dev/null)" >> log'],
        cache_key: ['lock'],
        linkFile: 'LINK.md',
      },
      // In the folder itself, so that its set-up is what the checks need.
      review: { ci_steps: ['grep -c . log'], fresh: false },
    });
    shop.addAgent('w1', 'test -f lock || echo one > lock; echo more >> work');
    const task = await shop.create('Set up');
    await shop.work(task, 'w1');
    const attempt = await attemptOf(task);
    // Once for the new folder; before the checks again, because the agent has changed the file.
    expect(read(attempt, 'log')).toBe('\none\n');
    await again(task);
    expect(read(attempt, 'log')).toBe('\none\n');
    rmSync(attempt.path, { recursive: true });
    await again(task);
    expect(read(attempt, 'log')).toBe('one\n');
    expect(read(attempt, '.env')).toBe('secret');
    expect(read(attempt, 'LINK.md')).toContain(attempt.id);
    // The commands are part of it.
    shop.set({ workspace: { setup: ['echo other >> log'] } });
    await openWorkspace(shop.place, { task, agent: 'w1' });
    expect(read(attempt, 'log')).toBe('one\nother\n');
  });

  it('keeps copies out of commits, also where an agent forces them in, and never writes through a link', async () => {
    await shop.repo.write('.env', 'secret');
    await shop.repo.write('conf/local', 'secret');
    await shop.repo.write('.git/info/exclude', '.env\nconf\n');
    shop.set({ workspace: { copy: ['.env', 'conf/local'], linkFile: 'a/LINK.md' } });
    shop.addAgent('w1', 'echo x > x; git add -f .env x; git commit -qm mine; git add -f a conf; echo y > y');
    const task = await shop.create('Copies');
    await shop.work(task, 'w1');
    const attempt = await attemptOf(task);
    expect(shop.repo.git('ls-tree', '-r', '--name-only', attempt.branch)).toBe('README.md\nx\ny');
    rmSync(attempt.path, { recursive: true });
    // What is at the place of the folders now is what a commit brought.
    symlinkSync(shop.repo.path, join(shop.repo.path, 'way'));
    shop.repo.git('add', '-f', 'way');
    shop.repo.git('commit', '-qm', 'a link');
    await shop.repo.write('way/hit', 'no');
    shop.set({ workspace: { copy: [], linkFile: 'way/LINK.md' } });
    const other = await shop.create('Through a link');
    await shop.work(other, 'w1');
    expect(existsSync(join(shop.repo.path, 'LINK.md'))).toBe(false);
  });

  it('[S145] [S150] [S151] [S152] has a file that says whose it is, where the project wants one', async () => {
    const slug = 'forge-metadata-investigation';
    await shop.repo.write(`.genie/wishes/${slug}/${slug}-wish.md`, 'GitHub issue: #12\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'a wish');
    shop.set({ workspace: { linkFile: 'SESSION-STATE.md' } });
    shop.addAgent('w1', 'cp SESSION-STATE.md seen');
    const task = await shop.create('Forge Metadata Investigation');
    await shop.work(task, 'w1');
    const attempt = await attemptOf(task);
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    const lines = [
      `<!-- forge ${attempt.id} -->`,
      `- Task: ${task.id}`,
      `- Attempt: ${attempt.id}`,
      `- Run: ${run?.id}`,
      `- Branch: ${attempt.branch}`,
      `- Wish: ${slug}`,
      '- GitHub issue: #12',
      '<!-- /forge -->',
    ];
    expect(read(attempt, 'seen')).toBe(`${lines.join('\n')}\n`);
    expect(shop.repo.git('ls-tree', '--name-only', attempt.branch)).not.toContain('SESSION-STATE');
    const by = { actor: ANN, now: shop.place.clock.now() };
    await shop.place.store.updateTask({ id: task.id, github_issue: 47 }, by);
    await again(task);
    expect(read(attempt, 'seen')).toContain('- GitHub issue: #47\n');
  });

  it.each([
    ['another branch', 'git switch -qc side; echo x > x', /Its worktree was on side/],
    ['no repository', 'rm -rf .git; echo x > x', /The commits of its worktree are lost \(/],
    [
      'a commit that goes past a filter',
      'echo x > x.loud; git -c filter.loud.clean=cat add x.loud; git commit -qm x',
      /The commits of its worktree were not taken \(\w+ holds x\.loud without its filter loud\)/,
    ],
  ])('tells what was found before its file was written, too: %s', async (_, script, warning) => {
    shop.repo.git('config', 'filter.loud.clean', 'tr a-z A-Z');
    shop.repo.git('config', 'filter.loud.required', 'true');
    await shop.repo.write('.gitattributes', '*.loud filter=loud\n');
    await shop.repo.write('STATE.md', '# State\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'a file that is told');
    shop.set({ workspace: { linkFile: 'STATE.md' } });
    shop.addAgent('strays', script);
    const task = await shop.create('Strays');
    await shop.work(task, 'strays');
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run?.message).toMatch(warning);
    const { branch } = await attemptOf(task);
    expect(shop.repo.git('show', `${branch}:STATE.md`)).toContain(`- Task: ${task.id}`);
  });

  it('[S148] [S149] [S151] tells a file of the repository with the first commit, and every commit whose it is', async () => {
    await shop.repo.write('SESSION-STATE.md', '# Session\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'state');
    shop.set({ workspace: { linkFile: 'SESSION-STATE.md' } });
    shop.addAgent('idle', 'cat SESSION-STATE.md > /dev/null');
    shop.addAgent('w1', 'echo x > x; git add x; git commit -qm mine');
    const task = await shop.create('Tracked');
    const back = await shop.work(task, 'idle');
    expect(back.error_annotation?.message).toMatch(/^It ended without changing a file/);
    await shop.work(task, 'w1');
    const attempt = await attemptOf(task);
    expect(shop.repo.git('show', `${attempt.branch}:SESSION-STATE.md`)).toBe(
      `# Session\n\n<!-- forge ${attempt.id} -->\n- Task: ${task.id}\n- Attempt: ${attempt.id}\n- Branch: ${attempt.branch}\n<!-- /forge -->`,
    );
    const trailers = shop.repo.git(
      'log',
      '--format=%(trailers:key=Forge-Attempt,valueonly,separator=)',
      `main..${attempt.branch}`,
    );
    expect(trailers.split('\n')).toEqual([attempt.id, attempt.id]);
    const commits = shop.repo.git('rev-list', '--count', `main..${attempt.branch}`);
    await again(task);
    expect(shop.repo.git('rev-list', '--count', `main..${attempt.branch}`)).toBe(commits);
  });
});

describe('the lock of a folder', () => {
  it('[S146] [S234] lets one process work there, refuses the next by name, and takes over from a dead one', async () => {
    const task = await shop.create('Locked');
    const control = await openControl(shop.place);
    await openWorkspace(shop.place, { task, agent: null });
    const attempt = await attemptOf(task);
    const lock = join(shop.place.records, attempt.id, LOCK_FILE);
    expect(existsSync(lock)).toBe(false);
    // A process that was killed while it worked there.
    writeFileSync(lock, JSON.stringify({ ...goneProcess(), what: 'run' }));
    shop.addAgent('w1', `cp ${lock} lock.txt; echo x > x`);
    await shop.work(task, 'w1');
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(JSON.parse(read(attempt, 'lock.txt'))).toEqual({
      ...shop.place.watcher,
      what: `run ${run?.id} of w1`,
    });
    expect(existsSync(lock)).toBe(false);
    expect(ignored(attempt)).toBe('');
    // Two processes: the other is this one, as somebody else.
    const parent = { ...readOwnIdentity(), pid: process.ppid };
    const other = new FolderLocks({ ...shop.place, watcher: { ...parent, host: 'elsewhere' } });
    const mine = new FolderLocks(shop.place, 40);
    await other.hold(attempt, 'run 1 of w2', async () => {
      await expect(mine.hold(attempt, 'removal', async () => undefined)).rejects.toMatchObject({
        code: 'state_invalid',
        message: `Process ${process.ppid} on elsewhere is at work in ${attempt.name} (run 1 of w2)`,
        hint: `Wait for it, or see forge runs list --open --task ${task.id}`,
        details: { attempt: attempt.id, pid: process.ppid, host: 'elsewhere' },
      });
    });
    // Inside of one another it is the same lock.
    const nested = mine.hold(attempt, 'a', () => mine.hold(attempt, 'b', async () => existsSync(lock)));
    expect(await nested).toBe(true);
    expect(existsSync(lock)).toBe(false);
    expect((await findWorkspace(shop.place, control, task.id))?.attempt.id).toBe(attempt.id);
  });

  it('[C1] lets one part of a process work there at a time, and refuses the next by name', async () => {
    const task = await shop.create('Shared');
    await openWorkspace(shop.place, { task, agent: null });
    const attempt = await attemptOf(task);
    const locks = new FolderLocks(shop.place, 100);
    const seen: string[] = [];
    const work = (name: string, ms: number) => async (): Promise<void> => {
      seen.push(`${name} begins`);
      await locks.hold(attempt, 'nested', () => sleep(ms));
      seen.push(`${name} ends`);
    };
    const first = locks.hold(attempt, 'first', work('first', 20));
    await Promise.all([first, locks.hold(attempt, 'second', work('second', 20))]);
    expect(seen).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
    const long = locks.hold(attempt, 'run 1 of w2', work('long', 400));
    await expect(locks.hold(attempt, 'removal', async () => undefined)).rejects.toMatchObject({
      code: 'state_invalid',
      message: `Process ${process.pid} on ${readOwnIdentity().host} is at work in ${attempt.name} (run 1 of w2)`,
    });
    await long;
    // What was begun inside and goes on after it does not hold it any more.
    let late: Promise<unknown> = Promise.resolve();
    await locks.hold(attempt, 'outer', async () => {
      late = sleep(50).then(() => locks.hold(attempt, 'late', async () => seen.push('late')));
    });
    const between = locks.hold(attempt, 'between', () => sleep(80).then(() => seen.push('between')));
    await Promise.all([late, between]);
    expect(seen.slice(-2)).toEqual(['between', 'late']);
  });
});
