import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskSecrets } from './find-secrets.ts';
import { listAttemptNames, parseAttemptName, toSlug } from './attempt-names.ts';

describe('the name of an attempt', () => {
  it.each([
    ['[TEST] Forge Metadata Investigation - Extract task_id structure', 'test-forge-metad'],
    ['Fix it', 'fix-it'],
    ['Über Größe', 'uber-gro-e'],
    ['../../etc/passwd', 'etc-passwd'],
    ['abcdefghijklmno pqr', 'abcdefghijklmno'],
    ['日本語', 'task'],
    ['-rf --force', 'rf-force'],
    ['.git', 'git'],
  ])('[S138] of %j has the slug %s', (title, slug) => {
    expect(toSlug(title)).toBe(slug);
  });

  it('[S137] begins with four characters of the id, and with more of them when those are taken', () => {
    const names = listAttemptNames('35a403e3-fe62-4545-bffe-0285dbfa472d', 'Fix it');
    expect(names.slice(0, 3)).toEqual(['35a4-fix-it', '35a403-fix-it', '35a403e3-fix-it']);
    expect(names.at(-1)).toBe('35a403e3fe624545bffe0285dbfa472d-fix-it');
  });

  it.each([
    [`rotate ghp_${'a1B2'.repeat(9)} now`, '35a4-rotate-redacted'],
    [`glpat-${'a1'.repeat(10)}`, '35a4-redacted'],
    [`AKIA${'A1'.repeat(8)} is void`, '35a4-redacted-is-void'],
    [`Authorization: Basic ${'YWRtaW46aHVudGVyMjIyMg'}==`, '35a4-authorization-ba'],
  ])('[S4] has nothing of a key in the title %s', (title, name) => {
    expect(listAttemptNames('35a403e3-fe62-4545-bffe-0285dbfa472d', maskSecrets(title))[0]).toBe(name);
  });

  it('[S235] is never more than one folder, whatever the title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (title) => {
        for (const name of listAttemptNames('35a403e3-fe62-4545-bffe-0285dbfa472d', title))
          expect(name).toMatch(/^[0-9a-f]{4,32}-[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$/);
      }),
    );
  });

  it('[S143] is read from a branch', () => {
    expect(parseAttemptName('forge/35a4-test-forge-metad')).toBe('35a4-test-forge-metad');
    expect(parseAttemptName('35a4-test-forge-metad')).toBe('35a4-test-forge-metad');
    expect(parseAttemptName('main')).toBeUndefined();
    expect(parseAttemptName('forge/../x')).toBeUndefined();
  });
});
