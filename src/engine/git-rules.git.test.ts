import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Merge } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { pushTarget } from '#git/push-target.ts';
import { listPushRecords, writePushRecord } from '#sync/push-records.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFakeCrypt } from '../../tests/support/fake-crypt.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { findTarget } from './attempt-workspace.ts';
import { watchOver } from './recover-project.ts';

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

describe('filters', () => {
  it('[A4] lead a secret from an agent to main and to the checkout, encrypted on the way', async () => {
    const program = writeFakeCrypt(join(shop.repo.path, '..', 'bin'));
    writeFileSync(join(shop.repo.path, '.git', 'fake-crypt-key'), 'key');
    for (const side of ['clean', 'smudge'])
      shop.repo.git('config', `filter.git-crypt.${side}`, `"${program}" ${side}`);
    shop.repo.git('config', 'filter.git-crypt.required', 'true');
    await shop.repo.write('.gitattributes', 'secret/** filter=git-crypt\n');
    await shop.repo.write('secret/a', 'first\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'secrets');
    shop.addAgent('w1', 'cat secret/a > seen; echo "password: hunter2" > secret/b');
    const task = await shop.create('Write a secret', { steps: ['grep -q hunter2 secret/b'] });
    await shop.work(task, 'w1');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', 'main:seen')).toBe('first');
    expect(shop.repo.git('cat-file', 'blob', 'main:secret/b')).toMatch(/^FAKECRYPT/);
    expect(await shop.repo.read('secret/b')).toBe('password: hunter2\n');
    expect(shop.repo.git('status', '--porcelain')).toBe('');
  });

  it('[A4] that an attempt takes away keep its run from being done, with the file named', async () => {
    const program = writeFakeCrypt(join(shop.repo.path, '..', 'bin'));
    writeFileSync(join(shop.repo.path, '.git', 'fake-crypt-key'), 'key');
    shop.repo.git('config', 'filter.git-crypt.clean', `"${program}" clean`);
    shop.repo.git('config', 'filter.git-crypt.smudge', `"${program}" smudge`);
    await shop.repo.write('.gitattributes', 'secret/** filter=git-crypt\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'secrets');
    shop.addAgent('w1', 'rm .gitattributes; mkdir secret; echo "password: hunter2" > secret/b');
    const task = await shop.work(await shop.create('Write a secret', { steps: ['true'] }), 'w1');
    expect(task.state).toBe('todo');
    expect(task.error_annotation?.message).toMatch(/^secret\/b is under filter=git-crypt, and .+ Next: Put/);
  });
});

describe('signatures', () => {
  it.each(shareOf(['merge', 'squash'] as const, 2))(
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

  inSoak(() => {
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
      expect(shop.repo.git('cat-file', '-p', 'main~2')).not.toContain('gpgsig');
    });
  });

  it('[A15] that need a passphrase are left out with a sentence, and nothing waits', async () => {
    useKey('a passphrase that nobody types');
    const started = performance.now();
    const { task, merge } = await mergeOne();
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(task.state).toBe('done');
    expect(merge?.message).toMatch(/^Its commit is not signed: git could not sign the commit: .+/);
    expect(shop.repo.git('cat-file', '-p', 'main')).not.toContain('gpgsig');
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
    expect(shop.repo.git('cat-file', '-p', 'main')).not.toContain('gpgsig');
  });

  inSoak(() => {
    it('that fail for the first commit of two are told, though the second has one', async () => {
      useKey();
      const flag = join(shop.repo.path, '..', 'asked-once');
      const program = join(shop.repo.path, '..', 'signs-later');
      const lines = [
        '#!/bin/sh',
        `[ -e '${flag}' ] && exec ssh-keygen "$@"`,
        `touch '${flag}'`,
        'exit 1',
        '',
      ];
      writeFileSync(program, lines.join('\n'), { mode: 0o755 });
      await shop.repo.write('STATE.md', '# State\n');
      shop.repo.git('add', '-A');
      shop.repo.git('commit', '-qm', 'a file that is told');
      shop.repo.git('config', 'gpg.ssh.program', program);
      // The file is told of the work with a commit of its own.
      shop.set({ workspace: { linkFile: 'STATE.md' } });
      shop.addAgent('w1', 'echo x > x');
      const task = await shop.create('Signed late', { steps: ['true'] });
      await shop.work(task, 'w1');
      const [run] = await shop.place.store.listRuns({ task_id: task.id });
      expect(run?.message).toContain('Its commit is not signed: ');
      const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
      const signed = shop.repo.git('log', '--format=%G?', `main..${attempt?.branch}`);
      expect(signed.split('\n')).toEqual(['G', 'N']);
    });
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

  it.each(
    shareOf(
      [
        [
          'pre-receive',
          'while read old new ref; do [ "$ref" = refs/heads/main ] && { echo "main is closed" >&2; exit 1; }; done',
        ],
        ['update', '[ "$1" = refs/heads/main ] && { echo "main is closed" >&2; exit 1; }'],
        [
          'reference-transaction',
          '[ "$1" = prepared ] && grep -q refs/heads/main && { echo "main is closed" >&2; exit 1; }; true',
        ],
      ],
      3,
    ),
  )('[A15] %s may refuse what would land', async (name, script) => {
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

  it.each<[string, string, () => Promise<void>]>(
    shareOf(
      [
        ['the hook itself', '[ "$1" != prepared ]', async () => undefined],
        ['something of the user’s', 'true', () => shop.repo.write('Say hello.txt', 'mine\n')],
      ],
      2,
    ),
  )('[A15] reference-transaction hears that %s kept it from landing', async (_, last, hinder) => {
    const heard = join(shop.repo.path, '..', 'heard');
    writeHook(
      'reference-transaction',
      `#!/bin/sh\ngrep -q ' refs/heads/main$' && echo "$1" >> '${heard}'; ${last}\n`,
    );
    await hinder();
    const { task } = await mergeOne();
    expect(task.state).toBe('merge_failed');
    expect(readFileSync(heard, 'utf8')).toBe('prepared\naborted\n');
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

describe('the push after a merge', () => {
  /** A remote that main follows, whose hook says whether something may come. */
  function useRemote(): string {
    const remote = join(shop.repo.path, '..', 'remote.git');
    shop.repo.git('init', '--quiet', '--bare', remote);
    shop.repo.git('remote', 'add', 'origin', remote);
    shop.repo.git('push', '--quiet', '--set-upstream', 'origin', 'main');
    shop.set({ merge: { push: 'after' } });
    return remote;
  }

  const close = (remote: string, script = 'echo "no pushes on Sundays" >&2; exit 1'): void => {
    mkdirSync(join(remote, 'hooks'), { recursive: true });
    writeFileSync(join(remote, 'hooks', 'pre-receive'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(remote, 'hooks', 'pre-receive'), 0o755);
  };
  const remoteMain = (remote: string): string => shop.repo.git('--git-dir', remote, 'rev-parse', 'main');
  const records = () => listPushRecords(join(shop.repo.path, '.git', 'forge'));

  it('is left alone unless somebody asks for it', async () => {
    const remote = useRemote();
    shop.set({ merge: { push: 'never' } });
    const before = remoteMain(remote);
    await mergeOne();
    expect(remoteMain(remote)).toBe(before);
    expect(records()).toEqual([]);
  });

  it('brings what has landed to the branch that the target follows', async () => {
    const remote = useRemote();
    const { task } = await mergeOne();
    expect(task.state).toBe('done');
    expect(remoteMain(remote)).toBe(shop.repo.git('rev-parse', 'main'));
    expect(records()).toEqual([]);
    expect(notes()).toEqual(['main was pushed to origin']);
  });

  it('that is rejected undoes nothing, is noted and told, and comes with the next landing', async () => {
    const remote = useRemote();
    close(remote);
    const before = remoteMain(remote);
    const first = await mergeOne('First');
    expect(first.task.state).toBe('done');
    expect(shop.repo.git('show', 'main:First.txt')).toBe('5');
    expect(remoteMain(remote)).toBe(before);
    const [record] = records();
    expect(record).toMatchObject({ branch: 'main', tries: 1, next: 'git push origin main' });
    expect(record?.why).toContain('pre-receive hook declined');
    expect(notes()).toEqual([
      'main is 2 commits ahead of origin/main: the push was rejected: [remote rejected] (pre-receive hook declined) / ' +
        'no pushes on Sundays. Next: git push origin main; it is tried again by itself',
    ]);
    close(remote, 'cat > /dev/null');
    await mergeOne('Second');
    expect(remoteMain(remote)).toBe(shop.repo.git('rev-parse', 'main'));
    expect(records()).toEqual([]);
  });

  it('is tried again by whoever stays, when its time has come', async () => {
    const remote = useRemote();
    close(remote);
    await mergeOne();
    close(remote, 'cat > /dev/null');
    await watchOver(shop.workshop);
    await shop.workshop.pushLanded();
    expect(records()).toHaveLength(1);
    const [record] = records();
    if (record === undefined) throw new Error('no record');
    expect(record.next_at - Date.now()).toBeGreaterThan(20_000);
    writePushRecord(join(shop.repo.path, '.git', 'forge'), { ...record, next_at: 0 });
    await watchOver(shop.workshop);
    await shop.workshop.pushLanded();
    expect(records()).toEqual([]);
    expect(remoteMain(remote)).toBe(shop.repo.git('rev-parse', 'main'));
  });

  it('has ended when Forge has: a push that is cut off leaves nothing at work', async () => {
    const remote = useRemote();
    close(remote);
    await mergeOne();
    const [record] = records();
    if (record === undefined) throw new Error('no record');
    writePushRecord(join(shop.repo.path, '.git', 'forge'), { ...record, next_at: 0 });
    const flag = join(remote, 'begun');
    writeHook('pre-push', `#!/bin/sh\ntouch '${flag}'\nsleep 604\n`);
    let isOver = false;
    const pushing = shop.workshop.pushLanded().finally(() => (isOver = true));
    await expect.poll(() => existsSync(flag), { timeout: 20_000 }).toBe(true);
    await shop.workshop.stop();
    expect(isOver).toBe(true);
    await pushing;
    // The next start pushes it.
    expect(records()).toMatchObject([{ commit: record.commit }]);
  });

  it('says what to type where the remote is ahead, and sees what was pushed by hand', async () => {
    const remote = useRemote();
    const other = join(shop.repo.path, '..', 'other');
    shop.repo.git('clone', '--quiet', '--branch', 'main', remote, other);
    const git = (...args: string[]): string =>
      shop.repo.git('-C', other, '-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args);
    git('commit', '--quiet', '--allow-empty', '-m', 'by somebody else');
    git('push', '--quiet');
    await mergeOne();
    const [record] = records();
    expect(record?.why).toMatch(/^the push was rejected: \[rejected\] \(fetch first\)/);
    expect(record?.next).toBe('git pull origin main && git push origin main');
    shop.repo.git('pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
    shop.repo.git('push', '--quiet', 'origin', 'main');
    if (record !== undefined)
      writePushRecord(join(shop.repo.path, '.git', 'forge'), { ...record, next_at: 0 });
    await shop.workshop.pushLanded();
    expect(records()).toEqual([]);
  });

  inSoak(() => {
    it('needs a branch to follow, and says so', async () => {
      const remote = useRemote();
      shop.repo.git('branch', '--unset-upstream', 'main');
      await mergeOne();
      expect(existsSync(remote)).toBe(true);
      expect(notes()).toEqual([
        'main was not pushed: main follows no branch of a remote. Next: git push --set-upstream origin main; it is tried again by itself',
      ]);
    });
  });

  it('runs the pre-push hook of the user, and does not wait for ever', async () => {
    const remote = useRemote();
    writeHook('pre-push', '#!/bin/sh\necho "not before noon" >&2\nexit 1\n');
    const before = remoteMain(remote);
    await mergeOne();
    expect(remoteMain(remote)).toBe(before);
    expect(records()[0]?.why).toContain('not before noon');
    writeHook('pre-push', '#!/bin/sh\nsleep 602 & wait\n');
    const commit = shop.repo.git('rev-parse', 'main');
    const slow = await pushTarget(shop.place.repo, { branch: 'main', commit }, { timeout_ms: 500 });
    expect(slow).toMatchObject({ kind: 'failed', why: 'the push did not end within 0.5 s' });
    expect(spawnSync('pgrep', ['-f', 'sleep 602']).status).toBe(1);
  });
});

describe('the branch to merge into', () => {
  it.each(shareOf(['trunk', 'stable', 'release/2.x'], 3))('[A14] may be called %s', async (name) => {
    shop.repo.git('branch', '-m', 'main', name);
    shop.addAgent('w1', 'echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['true'] });
    await shop.work(task, 'w1');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', `${name}:hello.txt`)).toBe('hello');
    expect(await shop.repo.read('hello.txt')).toBe('hello\n');
  });

  it('[A14] is asked for by name where several could be meant, with what to type', async () => {
    shop.repo.git('branch', '-m', 'main', 'stable');
    shop.repo.git('branch', 'next');
    shop.repo.git('checkout', '--quiet', '--detach');
    shop.addAgent('w1', 'echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['true'] });
    const blocked = await shop.work(task, 'w1');
    expect(blocked.state).toBe('blocked');
    expect(blocked.error_annotation?.message).toBe(
      'Nothing says which branch to begin with and to merge into: there are next, stable. ' +
        `Next: git -C '${shop.repo.path}' switch 'next', or {"merge": {"target": "next"}} in .forge/config.json`,
    );
    shop.set({ merge: { target: 'stable' } });
    const other = await shop.create('Say hello again', { steps: ['true'] });
    expect((await shop.work(other, 'w1')).state).toBe('review');
  });

  it('[A14] is asked for with ten names at most', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `b${10 + at}`);
    for (const name of names) shop.repo.git('branch', name);
    shop.repo.git('checkout', '--quiet', '--detach');
    shop.repo.git('branch', '-D', 'main');
    await expect(findTarget(shop.place)).rejects.toMatchObject({
      message: expect.stringContaining(`there are ${names.slice(0, 10).join(', ')} and 2 more`) as string,
      details: { branches: names.slice(0, 10) },
    });
  });
});
