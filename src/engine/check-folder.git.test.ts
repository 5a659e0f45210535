import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt, StepResult, Verdict } from '#contract/attempt.ts';
import type { Task, TaskView } from '#contract/task.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openCheckCaches, SETUP_CACHES, sweepCaches, toCacheFolder } from './caches.ts';
import { openGates } from './gate-changes.ts';
import { giveVerdict } from './give-verdict.ts';
import { recoverProject } from './recover-project.ts';
import { sweepFolders } from './sweep-folders.ts';
import { systemWriter } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  const files = { '.gitignore': 'tools/\n.env\n', '.env': 'KEY=1\n', kept: 'kept\n' };
  for (const [path, text] of Object.entries(files)) await shop.repo.write(path, text);
  shop.repo.git('add', '-A');
  shop.repo.git('commit', '-qm', 'files');
  shop.set({ merge: { auto: true }, scheduler: { retry_limit: 1 } });
});
afterEach(() => shop[Symbol.asyncDispose]());

/** One that is sent back has nothing more to say. */
async function work(script: string, steps: readonly string[]): Promise<TaskView> {
  shop.addAgent('w1', `test ! -e .git/again || exit 1; touch .git/again; echo x >> x; ${script}`);
  return shop.work(await shop.create('Checked', { steps }), 'w1');
}

async function stepsOf({ id }: Pick<Task, 'id'>): Promise<readonly StepResult[]> {
  return (await shop.place.store.listReviews({ task_id: id })).at(0)?.step_results ?? [];
}

async function attemptOf({ id }: Pick<Task, 'id'>): Promise<Attempt> {
  return (await shop.place.store.listAttempts({ task_id: id })).at(-1) as Attempt;
}

const CHECKER = 'mkdir -p tools; printf "#!/bin/sh\\n" > tools/checker; chmod +x tools/checker';
const BROKEN = 'tools/checker 2>/dev/null';

describe('[S-H3] what an agent leaves besides its commit', () => {
  const ways = [
    ['a program that git ignores', CHECKER, BROKEN],
    ['a file that was copied for it', 'echo KEY=2 > .env', 'grep -q KEY=2 .env'],
    ['a setting of git', 'git config alias.judge "!true"', 'git judge 2>/dev/null'],
  ] as const;

  it.each(shareOf(ways, 3))('decides no check: %s', async (_, leave, check) => {
    // With a set-up what is missing is the fault of the work.
    shop.set({ workspace: { setup: ['true'], copy: ['.env'] } });
    const task = await work(leave, [check]);
    expect(await stepsOf(task)).toMatchObject([{ outcome: 'failed' }]);
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).not.toMatch(/^x$/m);
  });

  it.each(shareOf(ways, 3))(
    'decides where a person has set review.fresh to false: %s',
    async (_, leave, check) => {
      shop.set({ review: { fresh: false }, workspace: { setup: ['true'], copy: ['.env'] } });
      expect(await work(leave, [check])).toMatchObject({ state: 'done' });
    },
  );

  it('decides no check of a merge', async () => {
    shop.set({ merge: { auto: false }, workspace: { setup: ['true'] } });
    const task = await work(CHECKER, [`test ! -e other || ${BROKEN}`]);
    await shop.repo.write('other', 'other\n');
    shop.repo.git('add', 'other');
    shop.repo.git('commit', '-qm', 'other');
    shop.removeAgent('w1');
    await shop.move(task, 'merging');
    expect(await shop.place.store.listMerges({ task_id: task.id })).toMatchObject([{ state: 'ci_failed' }]);
  });
});

describe('the folder of checks', () => {
  it('is set up anew with the copies, and leaves that of the agent as it was, and nothing behind', async () => {
    const count = join(shop.repo.path, '.git', 'count');
    const setup = [`pwd >> ${count}; mkdir -p tools; touch tools/made; echo litter > litter`];
    shop.set({ merge: { auto: false }, workspace: { setup, copy: ['.env'] } });
    const steps = ['grep -q KEY=1 .env', 'test -e tools/made -a ! -e tools/checker', 'echo more > more'];
    const task = await work(`${CHECKER}; echo KEY=2 > .env`, steps);
    expect((await stepsOf(task)).map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed']);
    const { path, name, branch } = await attemptOf(task);
    const folders = readFileSync(count, 'utf8').trim().split('\n');
    expect(folders).toEqual([path, expect.stringContaining(`${name}-check-`)]);
    expect(readFileSync(join(path, '.env'), 'utf8')).toBe('KEY=2\n');
    expect([existsSync(join(path, 'tools/checker')), existsSync(join(path, 'more'))]).toEqual([true, false]);
    expect(readdirSync(shop.place.root).filter((one) => one.includes('-check-'))).toEqual([]);
    const refs = shop.repo.git('for-each-ref', '--format=%(refname)', 'refs/forge', 'refs/heads/forge');
    expect(refs.split('\n').filter((ref) => !/refs\/forge\/keep\//.test(ref))).toEqual([
      `refs/heads/${branch}`,
    ]);
    expect(refs.match(/keep/g)).toHaveLength(1);
  });

  it('that a process left is removed without a rescue, and not while its review is open', async () => {
    shop.set({ merge: { auto: false } });
    const task = await work('true', ['true']);
    const { startCheckout } = await import('#git/attempt-checkout.ts');
    const { openControl } = await import('./attempt-workspace.ts');
    const control = await openControl(shop.place);
    const attempt = await attemptOf(task);
    const name = `${attempt.name}-check-1`;
    const path = join(shop.place.root, name);
    const { store } = shop.place;
    const by = systemWriter(shop.place);
    const { watcher } = shop.place;
    const head_commit = attempt.head_commit ?? '';
    const open = { id: crypto.randomUUID(), task_id: task.id, attempt_id: attempt.id, head_commit, watcher };
    await store.startReview(open, by);
    const facts = { task: task.id };
    const { root } = shop.place;
    await startCheckout(control, {
      attempt_id: open.id,
      name,
      root,
      path,
      base: head_commit,
      facts,
      is_throwaway: true,
    });
    writeFileSync(join(path, 'litter'), '');
    expect(await sweepFolders(shop.place)).toEqual([]);
    await store.finishReview({ id: open.id, status: 'void' }, by);
    await recoverProject(shop.workshop);
    expect(existsSync(path)).toBe(false);
    expect(shop.repo.git('for-each-ref', 'refs/forge/rescue')).toBe('');
  });
});

describe('a check that needs what the project does not say how to make', () => {
  const verdict: Verdict = { verdict: 'pass', summary: 'seen', findings: [] };
  const pass = (task: Task, agent?: string): Promise<unknown> =>
    giveVerdict(
      shop.as(agent === undefined ? undefined : { kind: 'agent', name: agent, named: true }),
      shop.place.store,
      {
        id: task.id,
        verdict,
        force: false,
        gates: openGates(shop.place, { may_allow: true }),
      },
    );

  it('waits for a person, who says how, and passes then', async () => {
    const task = await work(`${CHECKER}; echo made > tools/made`, ['test -e tools/made', 'echo litter > y']);
    expect(task).toMatchObject({ state: 'review', error_annotation: { code: 'setup_missing' } });
    const told = String(task.error_annotation?.message);
    expect(told).toMatch(
      /`test -e tools\/made` fails on the commit alone.*\(tools\/\).*workspace.*forge review/,
    );
    expect(await stepsOf(task)).toMatchObject([{ outcome: 'setup_missing' }]);
    expect(existsSync(join((await attemptOf(task)).path, 'y'))).toBe(false);
    await expect(pass(task, 'w1')).rejects.toThrow(/worked on it/);
    await expect(pass(task, 'w2')).rejects.toThrow(/a person says whether it passes/);
    shop.set({ workspace: { setup: ['mkdir -p tools; touch tools/made'] } });
    await pass(task);
    await shop.workshop.settled();
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
  });

  it('is not asked for where the check passes on the commit, or the project says how to make it', async () => {
    const passed = await work(`${CHECKER}; echo made > tools/made`, ['test -e x']);
    expect(await stepsOf(passed)).toMatchObject([{ outcome: 'passed' }]);
    shop.set({ workspace: { setup: ['true'] } });
    const failed = await work(`${CHECKER}; echo made > tools/made`, ['test -e tools/made']);
    expect(await stepsOf(failed)).toMatchObject([{ outcome: 'failed' }]);
  });

  it('is not merged by the word of a person alone', async () => {
    const task = await work(CHECKER, [BROKEN]);
    await pass(task);
    await shop.workshop.settled();
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).not.toMatch(/^x$/m);
    expect(await shop.place.store.listMerges({ task_id: task.id })).toMatchObject([{ state: 'ci_failed' }]);
  });

  inSoak(() => {
    it('goes back to the agent where it fails in its own folder too', async () => {
      const task = await work(CHECKER, ['test -e missing']);
      expect(await stepsOf(task)).toMatchObject([{ outcome: 'failed' }]);
      expect(task.state).not.toBe('review');
    });
  });
});

describe('[S2-F3] caches of checks', () => {
  it('begin with what set-ups of the target have cached, and are thrown away', async () => {
    const { place } = shop;
    const file = (whose: string): string => join(toCacheFolder(place, whose), '.npm/x');
    mkdirSync(dirname(file(SETUP_CACHES)), { recursive: true });
    writeFileSync(file(SETUP_CACHES), 'of the target');
    const gate = crypto.randomUUID();
    {
      await using caches = await openCheckCaches(place, gate);
      expect(readFileSync(file(caches.whose), 'utf8')).toBe('of the target');
      writeFileSync(file(caches.whose), 'poison');
    }
    expect(readFileSync(file(SETUP_CACHES), 'utf8')).toBe('of the target');
    expect(readdirSync(toCacheFolder(place, ''))).toEqual([SETUP_CACHES]);
  });

  it('are kept where a person says so', async () => {
    shop.set({ walls: { check_caches: 'kept' } });
    await using caches = await openCheckCaches(shop.place, 'a');
    expect(caches.whose).toBe('checks');
  });

  it('that a process has left are removed, and not while their review is open', async () => {
    const { place } = shop;
    await openCheckCaches(place, 'open');
    await openCheckCaches(place, 'over');
    await sweepCaches(place, (id) => id === 'open');
    expect(readdirSync(toCacheFolder(place, ''))).toEqual(['gate-open']);
  });
});
