import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt, Run } from '#contract/attempt.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { inSoak } from '../../tests/support/share-of.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openWorkspace } from './attempt-workspace.ts';
import { CheckoutWatch } from './checkout-watch.ts';
import { recoverProject } from './recover-project.ts';
import { toLogPath } from './run-agent.ts';
import { lookForStrays, watchStray } from './watch-strays.ts';

let shop: TempWorkshop;
beforeAll(async () => {
  shop = await tempWorkshop();
});
afterAll(() => shop[Symbol.asyncDispose]());

async function runOf(title: string, script: string): Promise<Run> {
  shop.addAgent(title, script);
  const task = await shop.create(title);
  await shop.work(task, title);
  const run = (await shop.place.store.listRuns({ task_id: task.id })).at(-1);
  if (run === undefined) throw new Error('no run');
  return run;
}

describe('the checkout of the user', () => {
  it('is looked at around each run, and what changed in it is told', async () => {
    const repo = shop.repo.path;
    const quiet = await runOf('quiet', 'echo x > x; cat "$HOME/.." 2>/dev/null; true');
    expect(quiet.message).toBeNull();
    const stray = await runOf('stray', `echo x > x; echo more >> ${repo}/README.md; touch ${repo}/new`);
    const text = 'Your checkout has changed while it ran, by it or by you: README.md, new';
    expect([stray.outcome, stray.message]).toEqual(['completed', text]);
    const log = readFileSync(toLogPath(shop.place, stray), 'utf8');
    expect(log).toContain('"code":"checkout_changed"');
    // What a run could reach is told before what it did.
    expect(log).toContain('"kind":"note","text":"No walls: ');
    const { task_id, attempt_id } = stray;
    expect(shop.news).toContainEqual({ kind: 'note', task_id, attempt_id, text });
    const { events } = await shop.engine.temp.store.readEvents({ after: 0, limit: 1000 });
    expect(JSON.stringify(events)).toContain(text);
    // The same files are dirty before and after.
    expect((await runOf('again', 'echo x > x')).message).toBeNull();
    const failed = await runOf('fails', `git -C ${repo} switch -qc side; exit 3`);
    expect(failed.message).toMatch(/\. Your checkout has changed .*: HEAD is refs\/heads\/side, was .*main$/);
    shop.repo.git('switch', '-q', 'main');
    await shop.place.checkout.lookBefore(-1);
    const commit = await runOf('commits', `echo x > x; git -C ${repo} commit -qam theirs`);
    expect(commit.message).toMatch(/: README\.md; HEAD is at [0-9a-f]{12}$/);
  });

  it('[A18] has settings and hooks of git that are looked at too', async () => {
    const hooks = join(shop.repo.path, '.git', 'hooks');
    const planted = await runOf(
      'plants',
      `echo x > x; mkdir -p ${hooks}; echo 'echo pwned' > ${hooks}/post-commit; chmod +x ${hooks}/post-commit;
       git -C ${shop.repo.path} config core.fsmonitor ./evil`,
    );
    expect(planted.message).toBe(
      'Your checkout has changed while it ran, by it or by you: .git/config, .git/hooks/post-commit',
    );
    expect((await runOf('later', 'echo x > x')).message).toBeNull();
    const made = await runOf('arms', `echo x > x; chmod -x ${hooks}/post-commit`);
    expect(made.message).toContain('.git/hooks/post-commit');
    rmSync(join(hooks, 'post-commit'));
    shop.repo.git('config', '--unset', 'core.fsmonitor');
  });

  it('may be changed by a merge', async () => {
    shop.addAgent('first', 'echo 1 > first');
    const first = await shop.create('Merged meanwhile');
    await shop.work(first, 'first');
    const before = await shop.place.checkout.lookBefore(-1);
    expect((await shop.move(first, 'merging')).state).toBe('done');
    expect(await shop.place.checkout.compare(before)).toBeUndefined();
    execFileSync('git', ['-C', shop.repo.path, 'rm', '-q', 'first']);
    expect(await shop.place.checkout.compare(before)).toMatch(/: first$/);
  });
});

it('a change is looked at as often as the limit says before it is told', async () => {
  await using folder = await tempFolder();
  const log = join(folder.path, 'calls');
  await folder.write('git', `#!/bin/sh\necho call >> ${log}\nPATH=$OLD_PATH exec git "$@"\n`);
  chmodSync(join(folder.path, 'git'), 0o755);
  const path = process.env['PATH'] ?? '';
  const env = { ...process.env, OLD_PATH: path, PATH: `${folder.path}:${path}` };
  const watch = new CheckoutWatch({ ...shop.place, repo: { ...shop.place.repo, env } });
  const countCalls = async (look: Promise<unknown>): Promise<number> => {
    await look;
    const calls = readFileSync(log, 'utf8').split('\n').length - 1;
    rmSync(log);
    return calls;
  };
  const before = watch.lookBefore(-1);
  const once = await countCalls(before);
  expect(once).toBeGreaterThan(0);
  await shop.repo.write('looked-at', 'x');
  expect(await countCalls(watch.compare(await before))).toBe(LIMITS.checkout_looks * once);
  rmSync(join(shop.repo.path, 'looked-at'));
  expect(await countCalls(watch.compare(await before))).toBe(once);
});

describe('a git that does not answer', () => {
  it('is not waited for, and told of', async () => {
    await using folder = await tempFolder();
    await folder.write('git', '#!/bin/sh\nexec sleep 600\n');
    chmodSync(join(folder.path, 'git'), 0o755);
    const env = { ...process.env, PATH: `${folder.path}:${process.env['PATH']}` };
    const watch = new CheckoutWatch({ ...shop.place, repo: { ...shop.place.repo, env } }, 50);
    const before = await watch.lookBefore();
    expect(before).toBeUndefined();
    expect(await watch.compare(before)).toContain('git could not say');
  });
});

describe('git in the worktree of an attempt', () => {
  it('is told where it is elsewhere and that was written down, and not where it is on its branch', async () => {
    const task = await shop.create('Looked at');
    const { attempt } = await openWorkspace(shop.place, { task, agent: null });
    const told: unknown[] = [];
    const look = (place: TempWorkshop['place']) =>
      watchStray(place, attempt, (entry) => void told.push(entry))();
    await look(shop.place);
    expect(told).toEqual([]);
    execFileSync('git', ['-C', attempt.path, 'switch', '-qc', 'side']);
    const changeAttempt = () => Promise.reject(new ForgeError('store_busy', 'The database is busy'));
    await look({ ...shop.place, store: { ...shop.place.store, changeAttempt } });
    expect(told).toEqual([]);
    await look(shop.place);
    expect(told).toMatchObject([{ kind: 'error', code: 'worktree_strayed' }]);
  });

  inSoak(() => {
    it('[E16] is told when somebody switches the branch or rebases while a run is at work', async () => {
      const switched = await runOf(
        'switched',
        'echo x > x; git add x; git commit -qm 1; git switch -qc side; echo y > y',
      );
      const { branch } = await shop.place.store.getAttempt(switched.attempt_id);
      expect(switched.message).toBe(`Its worktree was on side, and is on ${branch} again`);
      expect(shop.news).toContainEqual({
        kind: 'note',
        task_id: switched.task_id,
        attempt_id: switched.attempt_id,
        text: switched.message,
      });
      expect(shop.repo.git('ls-tree', '--name-only', branch)).toContain('y');
      const script = 'git log -1 --format=%s | grep -q Rewritten && git reset -q --hard HEAD~; echo $$ > y';
      shop.addAgent('again', script);
      const task = await shop.create('Rewritten');
      await shop.work(task, 'again');
      await shop.move(task, 'in_progress');
      const last = (await shop.place.store.listRuns({ task_id: task.id })).at(-1);
      expect(last?.message).toMatch(
        /^Commits that forge\/.* does not lead to are kept: refs\/forge\/rescue\//,
      );
    });
  });

  it('[A14-7] is told without the keys that an agent puts into the name of a branch', async () => {
    const key = `ghp_${'a1B2'.repeat(9)}`;
    const given = 'correct-horse-battery';
    shop.addAgent('leaks', `git switch -qc side-${key}-$GIVEN; echo x > x`, { env: { GIVEN: given } });
    const task = await shop.create('Leaks');
    await shop.work(task, 'leaks');
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    if (attempt === undefined) throw new Error('no attempt');
    execFileSync('git', ['-C', attempt.path, 'switch', '-qc', `other-${key}-${given}`]);
    for (let looks = 0; looks < 2; looks += 1) await lookForStrays(shop.place);
    const { events } = await shop.engine.temp.store.readEvents({ after: 0, limit: 1000 });
    const told = JSON.stringify([shop.news, events]);
    expect([told.includes(key), told.includes(given)]).toEqual([false, false]);
    const strayed = 'on other-[redacted]-[redacted]';
    expect(await shop.place.store.listAttempts({ task_id: task.id })).toMatchObject([{ strayed }]);
    const notes = shop.news.flatMap((one) => (one.kind === 'note' ? one.text : []));
    expect(notes.filter((text) => text.includes(strayed))).toHaveLength(1);
  });

  it('[E16] is told while the run is at work, once when it leaves the branch and once when it is back', async () => {
    const wait = (file: string): string => `until [ -f "$FORGE_WORKTREE.${file}" ]; do sleep 0.02; done`;
    shop.addAgent(
      'wanders',
      `git switch -qc side; ${wait('seen')}; git switch -q -; ${wait('back')}; echo x > x`,
    );
    const task = await shop.create('Wanders');
    const working = shop.work(task, 'wanders');
    const find = async (): Promise<Attempt | undefined> =>
      (await shop.place.store.listAttempts({ task_id: task.id })).at(-1);
    await expect.poll(async () => (await find())?.strayed, { timeout: 20_000 }).toBe('on side');
    const attempt = await find();
    if (attempt === undefined) throw new Error('no attempt');
    const { id, path, branch } = attempt;
    const away = `Its worktree is on side, not on ${branch}`;
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    if (run === undefined) throw new Error('no run');
    // Who looks at all folders leaves this one to whoever watches the run.
    await lookForStrays(shop.place);
    await expect
      .poll(() => readFileSync(toLogPath(shop.place, run), 'utf8'))
      .toContain(`"code":"worktree_strayed","text":"${away}"`);
    writeFileSync(`${path}.seen`, '');
    await expect.poll(async () => (await find())?.strayed, { timeout: 20_000 }).toBeNull();
    writeFileSync(`${path}.back`, '');
    await working;
    const notes = (): string[] =>
      shop.news.flatMap((one) => (one.kind === 'note' && one.attempt_id === id ? one.text : []));
    const again = `Its worktree is on ${branch} again`;
    expect(notes()).toEqual([away, again]);
    expect(await listTold(task.id)).toEqual(['attempt.strayed', 'attempt.returned']);
    expect((await shop.place.store.getRun(run.id)).message).toBeNull();

    // Between runs, by whoever stays.
    const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args]);
    git('checkout', '-q', '--detach');
    for (let looks = 0; looks < 2; looks += 1) await lookForStrays(shop.place);
    expect(notes().at(-1)).toMatch(/^Its worktree is at [0-9a-f]{12}, not on /);
    git('switch', '-q', branch);
    // A pipe in the place of HEAD is not waited for, and says nothing.
    const head = readFileSync(join(path, '.git/HEAD'));
    rmSync(join(path, '.git/HEAD'));
    execFileSync('sh', ['-c', 'mkfifo .git/HEAD'], { cwd: path });
    for (let looks = 0; looks < 2; looks += 1) await lookForStrays(shop.place);
    rmSync(join(path, '.git/HEAD'));
    expect(notes().slice(3)).toEqual([again]);
    writeFileSync(join(path, '.git/HEAD'), `ref: refs/heads/${'a'.repeat(LIMITS.head_bytes)}`);
    await lookForStrays(shop.place);
    expect((await find())?.strayed).toBeNull();
    writeFileSync(join(path, '.git/HEAD'), head);
    git('commit', '-q', '--allow-empty', '-m', 'more');
    expect(() => git('rebase', '--exec', 'false', 'HEAD~1')).toThrow('rebase');
    expect(await recoverProject(shop.workshop)).toEqual([]);
    expect(notes().at(-1)).toBe(`Its worktree is in the middle of a rebase, not on ${branch}`);
    await shop.move(task, 'cancelled');
    expect((await find())?.strayed).toBeNull();
  });
});

async function listTold(id: string): Promise<string[]> {
  const types = ['attempt.strayed', 'attempt.returned'];
  const { events } = await shop.engine.temp.store.readEvents({ after: 0, limit: 1000, types });
  return events.flatMap(({ task_id, type }) => (task_id === id ? type : []));
}
