import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listAttemptNames, parseAttemptName } from '#domain/attempt-names.ts';
import { isForgeError } from '#kernel/errors.ts';
import { gitPlace } from '../../tests/support/git-places.ts';
import { checkBranchName, exchangeBranch } from './exchange-branch.ts';
import { listVersions, readBlob, resolveRev } from './read-blob.ts';

/** The file that each of them would make, if it were taken for what it looks like. */
const CANARY = 'canary';
const TOUCH = `touch ${CANARY}`;

const OPTIONS = [
  '-c',
  '-C/tmp',
  '--help',
  '--version',
  '--all',
  '--exec-path=.',
  '--git-dir=.',
  '--work-tree=/',
  `--upload-pack=${TOUCH}`,
  `--receive-pack=${TOUCH}`,
  `--exec=${TOUCH}`,
  `-u${TOUCH}`,
  `--config=core.sshCommand=${TOUCH}`,
  `-ccore.fsmonitor=${TOUCH}`,
  `-ccore.pager=${TOUCH}`,
  `-calias.fetch=!${TOUCH}`,
  `--output=${CANARY}`,
  `-o${CANARY}`,
  `--open-files-in-pager=${TOUCH}`,
  `-O${TOUCH}`,
  '--textconv',
  '--ext-diff',
  '--filters',
  '--no-index',
  '--stdin',
  '--mirror',
  '--delete',
  '--force',
  '--prune',
  '--recurse-submodules',
  '--server-option=x',
  '--template=/tmp',
  '--separate-git-dir=x',
  '--reference=/',
  '--end-of-options',
  '--',
  '-',
];

const ADDRESSES = [
  `ext::sh -c ${TOUCH.replace(' ', '% ')}`,
  `ext::sh -c "${TOUCH}"`,
  `EXT::sh -c ${TOUCH}`,
  'fd::17',
  'fd::17,18/x',
  `foo::${TOUCH}`,
  `http::ext::sh -c ${TOUCH}`,
  `ssh://-oProxyCommand=${TOUCH}/x`,
  `ssh://-oProxyCommand=${TOUCH}@host/x`,
  `ssh://host/-oProxyCommand=${TOUCH}`,
  `git+ssh://-oProxyCommand=${TOUCH}/x`,
  `-oProxyCommand=${TOUCH}:x`,
  `user@-oProxyCommand=${TOUCH}:x`,
  `x:\`${TOUCH}\``,
  `x:$(${TOUCH})`,
  'git://127.0.0.1:1/x',
  'git://-x/y',
  'git://127.0.0.1:1/%0aHost:x',
  'http://127.0.0.1:1/x',
  'https://user:secret@127.0.0.1:1/x',
  'http://127.0.0.1:1/x?a=b#c',
  'ftp://127.0.0.1:1/x',
  'ftps://127.0.0.1:1/x',
  'file:///etc',
  'file://localhost/etc',
  'file:.',
  'FILE:///etc',
  '/',
  '/etc/passwd',
  '.',
  '..',
  './.git',
  '../..',
  '~',
  '~root',
  '\\\\127.0.0.1\\share',
  'C:\\x',
  'localhost:x',
  '[::1]:x',
  'rsync://127.0.0.1/x',
  'transport::address',
  'persistent-https://127.0.0.1:1/x',
  'bundle.pack',
];

const REFS = [
  'a..b',
  'a...b',
  '^HEAD',
  'HEAD^{/x}',
  '@{',
  '@{-9}',
  'x@{u}',
  ':/first',
  ':0:a.txt:x',
  'HEAD:',
  'a b',
  'a\tb',
  'a\nb',
  'a\0b',
  'a\u007fb',
  'a~b',
  'a^b',
  'a:b',
  'a?b',
  'a*b',
  'a[b',
  'a\\b',
  'a//b',
  '/a',
  'a/',
  'a.',
  '.a',
  'a/.b',
  'x.lock',
  'a.lock/b',
  '../x',
  'a/../b',
  '..',
  '../../config',
  ' ',
  '$(id)',
  `\`${TOUCH}\``,
  `a;${TOUCH}`,
  `a|${TOUCH}`,
  `a&&${TOUCH}`,
  `a\n${TOUCH}`,
  `!${TOUCH}`,
  '\u202ex',
  'x'.repeat(5_000),
];

const NAMES = [...OPTIONS, ...ADDRESSES, ...REFS];

function toCode(error: unknown): string | undefined {
  return isForgeError(error) ? error.code : String(error);
}

describe('options, addresses and refs where a name is expected', () => {
  it('[E7] [E8] [E9] are no branch, no remote and no revision, and run nothing', async ({ annotate }) => {
    await using place = await gitPlace();
    const head = place.git('rev-parse', 'HEAD');
    const refs = place.git('for-each-ref');
    const config = place.git('config', '--local', '--list');
    const taken: string[] = [];
    for (const name of NAMES) {
      const remote = await exchangeBranch({
        repo: place.repo,
        remote: name,
        branch: 'forge',
        join: () => Promise.resolve(new Map()),
        message: 'x',
      }).catch((error: unknown) => ({ outcome: 'no_remote', pushed: false, error }));
      if (remote.outcome !== 'no_remote' || remote.pushed) taken.push(`${name} as a remote`);
      const rev = await resolveRev(place.repo, name);
      if (rev !== undefined) taken.push(`${name} as the revision ${rev}`);
      // git ends over some of them, which is an answer too.
      const bytes = await readBlob(place.repo, name, 'a.txt').catch((error: unknown) => toCode(error));
      if (bytes !== undefined && bytes !== 'io_failed') taken.push(`${name} as a tree`);
      for await (const version of listVersions(place.repo, name)) taken.push(`${name} in ${version.commit}`);
      for (const one of listAttemptNames('35a403e3-fe62-4545-bffe-0285dbfa472d', name))
        if (!/^[0-9a-f]{4,32}-[a-z0-9-]{1,16}$/.test(one)) taken.push(`${name} as the attempt ${one}`);
      if (parseAttemptName(`forge/${name}`) !== undefined) taken.push(`${name} as an attempt`);
    }
    expect(taken).toEqual([]);
    expect(existsSync(join(place.path, CANARY))).toBe(false);
    expect(place.git('rev-parse', 'HEAD')).toBe(head);
    expect(place.git('for-each-ref')).toBe(refs);
    expect(place.git('config', '--local', '--list')).toBe(config);
    await annotate(`${NAMES.length} names`);
  });

  it('[E7] a branch is called only what git calls one, and none begins with a dash', async () => {
    await using place = await gitPlace();
    const accepted: string[] = [];
    for (const name of NAMES) {
      const isTaken = await checkBranchName(place.repo, name).then(
        () => true,
        () => false,
      );
      if (isTaken) accepted.push(name);
    }
    const odd = accepted.filter(
      (name) => name.startsWith('-') || /[\s~^:?*[\\\0]|\.\.|@\{|\.lock/.test(name),
    );
    expect(odd).toEqual([]);
    for (const name of OPTIONS) expect(accepted).not.toContain(name);
  });
});
