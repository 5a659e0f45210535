import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StepResult } from '#contract/attempt.ts';
import type { TaskView } from '#contract/task.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  // `t.sh` stands for the work's own tests: a script of the repository runs them, and a person is not asked for them.
  const files = {
    'run-tests.sh': '. ./t.sh\n',
    'ci.sh': '[ ! -e bad.txt ]\n',
    't.sh': 'true\n',
    'made.txt': 'old\n',
    '.gitignore': 'tools/\n.env\n',
    '.env': 'KEY=1\n',
  };
  for (const [path, text] of Object.entries(files)) await shop.repo.write(path, text);
  shop.repo.git('add', '-A');
  shop.repo.git('commit', '-qm', 'checks');
  shop.set({ merge: { auto: true }, scheduler: { retry_limit: 1 } });
});
afterEach(() => shop[Symbol.asyncDispose]());

const TESTS = 'sh run-tests.sh';
/** Work that the second check refuses, with a test that does this. */
const bad = (test: string): string => `echo bad > bad.txt; cat > t.sh <<'X'\n${test}\nX\n`;

async function work(script: string, steps: readonly string[]): Promise<TaskView> {
  // One that is sent back has nothing more to say.
  shop.addAgent('w1', `test ! -e .git/again || exit 1; touch .git/again; ${script}`);
  return shop.work(await shop.create('Checked', { steps }), 'w1');
}

async function stepsOf({ id }: TaskView): Promise<readonly StepResult[]> {
  return (await shop.place.store.listReviews({ task_id: id })).at(0)?.step_results ?? [];
}

describe('[S-H1] a check that changes what a later one looks at', () => {
  it.each(
    shareOf(
      [
        ['takes the file away', 'rm -f bad.txt', ['bash ci.sh'], /because a check had changed bad\.txt/],
        [
          'takes it away and brings it back',
          'rm -f bad.txt',
          ['bash ci.sh', 'echo bad > bad.txt'],
          /because a check had changed bad\.txt/,
        ],
        [
          'writes the script of the later one',
          'echo true > ci.sh',
          ['bash ci.sh'],
          /Not run: the attempt has ci\.sh/,
        ],
        ['makes a pipe of it', 'rm ci.sh; mkfifo ci.sh', ['bash ci.sh'], /Not run: the attempt has ci\.sh/],
      ] as const,
      3,
    ),
  )('%s: it does not pass, and is not merged', async (_, test, more, told) => {
    const task = await work(bad(test), [TESTS, ...more]);
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).not.toContain('bad.txt');
    const steps = await stepsOf(task);
    expect(steps.at(-1)).toMatchObject({
      command: 'bash ci.sh',
      output: expect.stringMatching(told) as string,
    });
    expect(['failed', 'start_failed']).toContain(steps.at(-1)?.outcome);
  });

  it('passes where all pass on the files of the commit, says so, and leaves those files', async () => {
    const task = await work('echo x > x', ['echo new > made.txt; echo said', 'test -f x']);
    expect(task.state).toBe('done');
    const why = 'Run again, on the files of the commit, because a check had changed made.txt';
    expect((await stepsOf(task)).map(({ output }) => output)).toEqual(['said', '', `${why}\nsaid`, why]);
    expect(shop.repo.git('show', 'main:made.txt')).toBe('old');
  });

  it.each(
    shareOf(
      [
        ['passes', ['test -f x', 'echo new > made.txt']],
        ['is refused', [TESTS, 'bash ci.sh']],
      ],
      2,
    ),
  )(
    'leaves the files of the commit in the folder of the agent where all of it %s there',
    async (_, steps) => {
      shop.set({ review: { fresh: false }, merge: { auto: false } });
      const task = await work("echo x > x; echo 'echo true > ci.sh' > t.sh", steps);
      const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
      const read = (name: string): string => readFileSync(join(attempt?.path ?? '', name), 'utf8');
      expect([read('made.txt'), read('ci.sh')]).toEqual(['old\n', '[ ! -e bad.txt ]\n']);
    },
  );

  inSoak(() => {
    it('fails at once where a later check looks for what was generated', async () => {
      const task = await work('echo x >> x', ['echo new > made.txt', 'git diff --exit-code']);
      expect((await stepsOf(task)).map(({ outcome }) => outcome)).toEqual(['passed', 'failed']);
    });

    it('is found by the check of a merge as well', async () => {
      shop.set({ merge: { auto: false } });
      const steps = ['test ! -e other || rm -f x', 'test ! -e other || test ! -e x'];
      const task = await work('echo x > x', steps);
      await shop.repo.write('other', 'other\n');
      shop.repo.git('add', 'other');
      shop.repo.git('commit', '-qm', 'other');
      shop.removeAgent('w1');
      await shop.move(task, 'merging');
      const [merge] = await shop.place.store.listMerges({ task_id: task.id });
      expect(merge).toMatchObject({ state: 'ci_failed' });
      expect(merge?.message).toContain('because a check had changed x');
      expect(shop.repo.git('ls-tree', '--name-only', 'main')).not.toMatch(/^x$/m);
    });
  });
});
