import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Merge } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** A task whose agent writes a file and whose merge is asked for. */
async function mergeOne(title = 'Say hello'): Promise<{ task: Task; merge: Merge | undefined }> {
  shop.addAgent('w1', `echo ${title.length} > '${title}.txt'`);
  const task = await shop.create(title, { steps: ['true'] });
  expect((await shop.work(task, 'w1')).state).toBe('review');
  const moved = await shop.move(task, 'merging');
  const merge = (await shop.place.store.listMerges({ task_id: task.id })).at(-1);
  return { task: moved, merge };
}

const notes = (): string[] => shop.news.flatMap((one) => (one.kind === 'note' ? [one.text] : []));

/** A key for `gpg.format=ssh`, and the list of who may sign with it. */
function useKey(passphrase = ''): string {
  const key = join(shop.repo.path, '..', 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', key], { stdio: 'pipe' });
  const signers = join(shop.repo.path, '..', 'signers');
  writeFileSync(signers, `test@example.com ${readFileSync(`${key}.pub`, 'utf8')}`);
  shop.repo.git('config', 'gpg.format', 'ssh');
  shop.repo.git('config', 'user.signingKey', key);
  shop.repo.git('config', 'gpg.ssh.allowedSignersFile', signers);
  shop.repo.git('config', 'commit.gpgSign', 'true');
  return key;
}

function writeHook(name: string, lines: string, folder = '.git/hooks'): void {
  const path = join(shop.repo.path, folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, lines);
  chmodSync(path, 0o755);
}

describe('signatures', () => {
  it.each(['merge', 'squash'] as const)(
    '[A15] are made as commit.gpgSign says, with a %s',
    async (strategy) => {
      useKey();
      shop.set({ merge: { strategy } });
      const { task, merge } = await mergeOne();
      expect(task.state).toBe('done');
      expect(merge?.message).toBeNull();
      shop.repo.git('verify-commit', 'main');
      if (strategy === 'merge') shop.repo.git('verify-commit', 'main^2');
      expect(notes()).toEqual([]);
    },
  );

  it('[A15] are made for each commit of a rebase onto a target that has moved', async () => {
    useKey();
    shop.set({ merge: { strategy: 'rebase' } });
    shop.addAgent('w1', 'echo one > one.txt; git add -A; git commit -qm one; echo two > two.txt');
    const task = await shop.create('Two commits', { steps: ['true'] });
    await shop.work(task, 'w1');
    await shop.repo.write('main.txt', 'main\n');
    shop.repo.git('add', '-A');
    shop.repo.git('-c', 'commit.gpgSign=false', 'commit', '-qm', 'main moves');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    shop.repo.git('verify-commit', 'main', 'main~1');
    expect(() => shop.repo.git('verify-commit', 'main~2')).toThrow();
  });

  it('[A15] that need a passphrase are left out with a sentence, and nothing waits', async () => {
    useKey('a passphrase that nobody types');
    const started = performance.now();
    const { task, merge } = await mergeOne();
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(task.state).toBe('done');
    expect(merge?.message).toMatch(/^Its commit is not signed: git could not sign the commit: .+/);
    expect(() => shop.repo.git('verify-commit', 'main')).toThrow();
    // Once for the run, and once for the merge.
    expect(notes().filter((text) => text.includes('not signed'))).toHaveLength(2);
  });

  it('[A15] are a condition of the merge where merge.sign says always', async () => {
    const key = useKey('a passphrase that nobody types');
    shop.repo.git('config', 'commit.gpgSign', 'false');
    shop.set({ merge: { sign: 'always' } });
    const before = shop.repo.git('rev-parse', 'main');
    const { task, merge } = await mergeOne();
    expect(task.state).toBe('merge_failed');
    expect(merge).toMatchObject({
      state: 'refused',
      message: expect.stringMatching(
        /^merge\.sign is always, and git could not sign the commit: .+ Next: Unlock/,
      ),
    });
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    execFileSync('ssh-keygen', ['-q', '-p', '-P', 'a passphrase that nobody types', '-N', '', '-f', key]);
    expect((await shop.move(task, 'merging')).state).toBe('done');
    shop.repo.git('verify-commit', 'main');
  });

  it('[A15] are not made where merge.sign says never', async () => {
    useKey();
    shop.set({ merge: { sign: 'never' } });
    const { merge } = await mergeOne();
    expect(merge?.message).toBeNull();
    expect(() => shop.repo.git('verify-commit', 'main')).toThrow();
  });
});

describe('the hooks of the repository', () => {
  it('[A15] commit-msg sees the message of the merge, may change it, and may refuse it', async () => {
    writeHook(
      'commit-msg',
      '#!/bin/sh\ngrep -q Merge "$1" || exit 1\necho "Reviewed-by: The Hook" >> "$1"\n',
    );
    const { task } = await mergeOne();
    expect(task.state).toBe('done');
    expect(shop.repo.git('log', '-1', '--format=%(trailers:unfold)', 'main')).toContain(
      'Reviewed-by: The Hook',
    );
    writeHook('commit-msg', 'echo "no ticket number in the message" >&2; exit 1\n');
    const before = shop.repo.git('rev-parse', 'main');
    const refused = await mergeOne('Second');
    expect(refused.task.state).toBe('merge_failed');
    expect(refused.merge).toMatchObject({
      state: 'refused',
      message: expect.stringContaining(
        'The hook commit-msg of the repository refuses it: no ticket number in the message. Next: The hook is ',
      ),
    });
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
  });

  it.each([
    [
      'pre-receive',
      'while read old new ref; do [ "$ref" = refs/heads/main ] && { echo "main is closed" >&2; exit 1; }; done',
    ],
    ['update', '[ "$1" = refs/heads/main ] && { echo "main is closed" >&2; exit 1; }'],
    [
      'reference-transaction',
      '[ "$1" = prepared ] && grep -q refs/heads/main && { echo "main is closed" >&2; exit 1; }; true',
    ],
  ])('[A15] %s may refuse what would land', async (name, script) => {
    writeHook(name, `#!/bin/sh\n${script}\n`);
    const before = shop.repo.git('rev-parse', 'main');
    const { task, merge } = await mergeOne();
    expect(task.state).toBe('merge_failed');
    expect(merge?.message).toContain(`The hook ${name} of the repository refuses it: main is closed`);
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    expect(shop.repo.git('status', '--porcelain')).toBe('');
    writeHook(name, '#!/bin/sh\ncat > /dev/null\n');
    expect((await shop.move(task, 'merging')).state).toBe('done');
  });

  it('[A15] reference-transaction hears how it ended', async () => {
    const heard = join(shop.repo.path, '..', 'heard');
    writeHook(
      'reference-transaction',
      `#!/bin/sh\ngrep -q ' refs/heads/main$' && echo "$1" >> '${heard}'; true\n`,
    );
    await mergeOne();
    expect(readFileSync(heard, 'utf8')).toBe('prepared\ncommitted\n');
  });

  it('[A15] that are not run are named', async () => {
    for (const name of ['pre-commit', 'post-merge', 'pre-merge-commit'])
      writeHook(name, `#!/bin/sh\necho ran > '${join(shop.repo.path, '..', 'ran')}'\nexit 1\n`);
    writeHook(
      'post-checkout',
      '#!/bin/sh\n# >>> forge >>> written by forge hooks install\nfalse\n# <<< forge <<<\n',
    );
    writeFileSync(join(shop.repo.path, '.git/hooks/post-commit'), 'not executable');
    const { task, merge } = await mergeOne();
    expect(task.state).toBe('done');
    const sentence = 'Hooks of the repository that were not run: pre-commit, pre-merge-commit, post-merge';
    expect(merge?.message).toBe(sentence);
    expect(notes()).toEqual([sentence]);
    expect(existsSync(join(shop.repo.path, '..', 'ran'))).toBe(false);
  });

  it("[A15] in a folder of the checkout are the user's, not the attempt's", async () => {
    writeHook('commit-msg', '#!/bin/sh\necho "By-hook: of the user" >> "$1"\n', '.husky');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'husky');
    shop.repo.git('config', 'core.hooksPath', '.husky');
    shop.addAgent(
      'w1',
      'printf "#!/bin/sh\\necho By-hook: of the agent >> \\$1\\n" > .husky/commit-msg; echo x > x',
    );
    const task = await shop.create('Plant a hook', { steps: ['true'] });
    await shop.work(task, 'w1');
    await shop.move(task, 'merging');
    expect(shop.repo.git('log', '-1', '--format=%B', 'main')).toContain('By-hook: of the user');
  });
});

describe('the branch to merge into', () => {
  it.each(['trunk', 'develop', 'release/2.x'])('[A14] may be called %s', async (name) => {
    shop.repo.git('branch', '-m', 'main', name);
    shop.addAgent('w1', 'echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['true'] });
    await shop.work(task, 'w1');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', `${name}:hello.txt`)).toBe('hello');
    expect(await shop.repo.read('hello.txt')).toBe('hello\n');
  });

  it('[A14] is asked for by name where several could be meant, with what to type', async () => {
    shop.repo.git('branch', '-m', 'main', 'trunk');
    shop.repo.git('branch', 'develop');
    shop.repo.git('checkout', '--quiet', '--detach');
    shop.addAgent('w1', 'echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['true'] });
    const blocked = await shop.work(task, 'w1');
    expect(blocked.state).toBe('blocked');
    expect(blocked.error_annotation?.message).toBe(
      'Nothing says which branch to begin with and to merge into: there are develop, trunk. ' +
        `Next: git -C '${shop.repo.path}' switch 'develop', or {"merge": {"target": "develop"}} in .forge/config.json`,
    );
    shop.set({ merge: { target: 'trunk' } });
    const other = await shop.create('Say hello again', { steps: ['true'] });
    expect((await shop.work(other, 'w1')).state).toBe('review');
  });
});
