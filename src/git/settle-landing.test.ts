import { describe, expect, it } from 'vitest';
import { writesIndex } from './settle-landing.ts';

describe('[B14] a git that a landing waits for', () => {
  it.each([
    'git commit -a',
    '/usr/bin/git -C /x -c a=b stash push',
    'git branch -m main x',
    'git branch --move x',
    'git branch -qD x',
    'git worktree add -f ../wt main',
    'git worktree remove ../wt',
    'git update-ref refs/heads/main HEAD',
    'git symbolic-ref HEAD refs/heads/x',
    'git symbolic-ref -m why HEAD refs/heads/x',
  ])('is one that changes an index or a branch: %s', (line) => {
    expect(writesIndex(line.split(' '))).toBe(true);
  });

  it.each([
    'git status',
    'git',
    'git --version',
    'git branch',
    'git branch --list --format=%(refname)',
    'git branch --show-current',
    'git worktree list',
    'git symbolic-ref --short HEAD',
    'vim commit',
    'git --no-pager --no-optional-locks -c x=y update-ref -m why --stdin',
  ])('is none that only reads, or that is of Forge: %s', (line) => {
    expect(writesIndex(line.split(' '))).toBe(false);
  });
});
