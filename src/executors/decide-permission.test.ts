import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { decidePermission } from './decide-permission.ts';
import { isInside } from './is-inside.ts';
import type { PermissionKind } from './protocols/session.ts';

function decide(
  kind: PermissionKind,
  paths: readonly string[],
  rules: { cwd?: string; policy?: 'ask' | 'edits' | 'all'; read_only?: boolean } = {},
): string {
  const ask = { id: '1', tool: 'x', input: {}, kind, paths };
  return decidePermission(ask, { cwd: '/nowhere/checkout', policy: 'edits', read_only: false, ...rules })
    .decision;
}

describe('decidePermission', () => {
  it.each([
    ['ask', 'read', ['a'], 'ask'],
    ['ask', 'edit', ['a'], 'ask'],
    ['ask', 'execute', [], 'ask'],
    ['edits', 'read', ['a'], 'allowed'],
    ['edits', 'read', [], 'allowed'],
    ['edits', 'read', ['/etc/passwd'], 'ask'],
    ['edits', 'edit', ['a/b.txt'], 'allowed'],
    ['edits', 'edit', ['/nowhere/checkout/b.txt'], 'allowed'],
    ['edits', 'edit', [], 'ask'],
    ['edits', 'edit', ['a', '../b'], 'ask'],
    ['edits', 'edit', ['/nowhere/checkout-too/b'], 'ask'],
    ['edits', 'edit', ['.git/hooks/pre-commit'], 'ask'],
    ['edits', 'edit', ['.GIT/config'], 'ask'],
    ['edits', 'edit', ['.github/workflows/ci.yml'], 'allowed'],
    ['edits', 'execute', [], 'ask'],
    ['edits', 'network', [], 'ask'],
    ['edits', 'other', ['a'], 'ask'],
    ['all', 'execute', [], 'allowed'],
    ['all', 'network', [], 'allowed'],
    ['all', 'edit', ['a'], 'allowed'],
    ['all', 'edit', [], 'allowed'],
    ['all', 'read', ['/etc/passwd'], 'allowed'],
    ['all', 'edit', ['/etc/passwd'], 'ask'],
  ] as const)('%s: %s of %j is %s', (policy, kind, paths, decision) => {
    expect(decide(kind, paths, { policy })).toBe(decision);
  });

  it.each(['ask', 'edits', 'all'] as const)(
    'allows a run that may only look nothing but looking, under %s',
    (policy) => {
      const kinds = ['edit', 'execute', 'network', 'other'] as const;
      expect(kinds.map((kind) => decide(kind, ['a'], { policy, read_only: true }))).toEqual(
        kinds.map(() => 'denied'),
      );
      expect(decide('read', ['a'], { policy, read_only: true })).toBe('allowed');
    },
  );

  it.each([
    ['npm test', 'allowed'],
    ['npm test > ../out.txt', 'ask'],
    ['npm test > .git/hooks/pre-commit', 'ask'],
    ['npm test; rm x', 'ask'],
    ['NODE_OPTIONS=-r=./x npm test', 'ask'],
    ['git status', 'allowed'],
    ['ls', 'allowed'],
    ['ls -la', 'allowed'],
    ['cat a/b.txt', 'allowed'],
    ['cat /etc/passwd', 'ask'],
    ['cat ../secret', 'ask'],
    ['cat ~/.ssh/id_rsa', 'ask'],
    ['grep -f/etc/passwd a', 'ask'],
    ['rm x', 'ask'],
  ])('a command between edits and all: %s is %s', (command, decision) => {
    const ask = { id: '1', tool: 'Bash', input: {}, kind: 'execute', paths: [], command } as const;
    const rules = { cwd: '/nowhere/checkout', read_only: false, allow: ['npm test'] };
    for (const policy of ['ask', 'edits'] as const)
      expect([policy, decidePermission(ask, { ...rules, policy }).decision]).toEqual([policy, decision]);
    const elsewhere = { ...ask, cwd: '/nowhere/checkout/sub' };
    const isLook = ['ls', 'ls -la', 'cat a/b.txt', 'cat ../secret'].includes(command);
    expect(decidePermission(elsewhere, { ...rules, policy: 'edits' }).decision).toBe(
      isLook ? 'allowed' : 'ask',
    );
    expect(decidePermission(ask, { ...rules, policy: 'all', read_only: true }).decision).toBe('denied');
    const outside = { ...ask, cwd: '/nowhere' };
    expect(decidePermission(outside, { ...rules, policy: 'edits' }).decision).toBe('ask');
  });

  it('a command that writes a file of the checkout is an edit besides', () => {
    const ask = {
      id: '1',
      tool: 'Bash',
      input: {},
      kind: 'other',
      paths: [],
      command: 'npm test > out.txt',
    } as const;
    const rules = { cwd: '/nowhere/checkout', read_only: false, allow: ['npm test'] };
    expect(decidePermission(ask, { ...rules, policy: 'edits' }).decision).toBe('allowed');
    expect(decidePermission(ask, { ...rules, policy: 'ask' }).decision).toBe('ask');
  });

  it.each([
    ['S-H4', 'npm test ${x:=a} ${x@P}', 'ask'],
    ['S-H4', "npm test $'a'", 'ask'],
    ['S-M4', 'npm test --script-shell=./x', 'ask'],
    ['S-L1', 'grep -f/etc/passwd a', 'ask'],
    ['S-L1', 'grep --include=/etc/x -r a .', 'ask'],
    ['S-L1', 'git log --format=../x', 'ask'],
    ['S-L1', 'git log -S /etc/x', 'ask'],
    ['S-L1', 'git log --oneline', 'allowed'],
  ])('[%s] %s is %s', (_, command, decision) => {
    const ask = { id: '1', tool: 'Bash', input: {}, kind: 'execute', paths: [], command } as const;
    const rules = {
      cwd: '/nowhere/checkout',
      read_only: false,
      allow: ['npm test'],
      policy: 'edits',
    } as const;
    expect(decidePermission(ask, rules).decision).toBe(decision);
  });

  it.each(['git log', "g'i't log", '"git" status', 'ls; g""it log'])(
    '[S-L1] %s in another folder is asked for, however it is quoted',
    (command) => {
      const ask = { id: '1', tool: 'Bash', input: {}, kind: 'execute', paths: [], command } as const;
      const rules = { cwd: '/nowhere/checkout', read_only: false, policy: 'edits' } as const;
      const at = '/nowhere/checkout/sub';
      expect(decidePermission(ask, rules).decision).toBe('allowed');
      expect(decidePermission({ ...ask, cwd: at }, rules).decision).toBe('ask');
    },
  );

  it('looks behind links', async () => {
    await using folder = await tempFolder();
    const cwd = join(folder.path, 'work');
    mkdirSync(join(cwd, 'real'), { recursive: true });
    mkdirSync(join(folder.path, 'outside'));
    symlinkSync('../outside', join(cwd, 'out'));
    symlinkSync('real', join(cwd, 'in'));
    symlinkSync('../outside/not-there-yet', join(cwd, 'dangling'));
    symlinkSync('loop', join(cwd, 'loop'));
    mkdirSync(join(cwd, '.git/hooks'), { recursive: true });
    symlinkSync('.git/hooks', join(cwd, 'hooks'));
    expect(decide('edit', ['in/new/file.txt'], { cwd })).toBe('allowed');
    expect(decide('edit', ['out/file.txt'], { cwd })).toBe('ask');
    expect(decide('edit', ['dangling'], { cwd })).toBe('ask');
    expect(decide('edit', ['hooks/pre-commit'], { cwd })).toBe('ask');
    expect(decide('edit', ['in/../../outside/x'], { cwd })).toBe('ask');
    expect(() => decide('edit', ['loop/x'], { cwd })).not.toThrow();
  });
});

describe('isInside', () => {
  it('knows a folder by its real path', async () => {
    await using folder = await tempFolder();
    mkdirSync(join(folder.path, 'real'));
    symlinkSync('real', join(folder.path, 'link'));
    expect(isInside(join(folder.path, 'link', 'a'), join(folder.path, 'real'))).toBe(true);
    expect(isInside(join(folder.path, 'real', 'a'), join(folder.path, 'link'))).toBe(true);
    expect(isInside(join(folder.path, 'real'), join(folder.path, 'real'))).toBe(true);
    expect(isInside(join(folder.path, 'real2'), join(folder.path, 'real'))).toBe(false);
    expect(isInside('/anything', '/')).toBe(true);
  });
});
