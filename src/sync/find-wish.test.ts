import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findWish } from './find-wish.ts';

const WORK = { name: '35a4-test-forge-metad', title: '[TEST] Forge Metadata Investigation - Extract ids' };

describe('the wish of an attempt', () => {
  it.each<[string[], string | undefined]>([
    [[], undefined],
    [['other'], undefined],
    [['the-test-forge-metadata-wish', 'other'], 'the-test-forge-metadata-wish'],
    [['forge', 'forge-metadata-investigation'], 'forge-metadata-investigation'],
    // Part of a word is no word.
    [['meta', 'data-investigation', 'est'], undefined],
  ])('of %j is %s', async (slugs, expected) => {
    await using folder = await tempFolder();
    for (const slug of slugs) mkdirSync(join(folder.path, '.genie', 'wishes', slug), { recursive: true });
    expect(findWish([folder.path], WORK)?.slug).toBe(expected);
  });

  it('is that of the first folder that has one; files are none', async () => {
    await using folder = await tempFolder();
    const [a, b] = ['a', 'b'].map((name) => join(folder.path, name));
    mkdirSync(join(a ?? '', '.genie', 'wishes'), { recursive: true });
    writeFileSync(join(a ?? '', '.genie', 'wishes', 'x-test-forge-metad'), '');
    mkdirSync(join(b ?? '', '.genie', 'wishes', 'y-test-forge-metad'), { recursive: true });
    expect(findWish([a ?? '', b ?? ''], WORK)?.slug).toBe('y-test-forge-metad');
  });

  it.each<[string, number | undefined]>([
    ['# Wish\n**GitHub Issue:** #42\n', 42],
    ['issue: 17\n', 17],
    ['See https://github.com/acme/shop/issues/301 for more\n', 301],
    ['No number of an issue\n', undefined],
    ['tissue 5\n', undefined],
    [`${'x'.repeat(LIMITS.wish_bytes)}\nissue: 5\n`, undefined],
  ])('names its issue: %#', async (text, expected) => {
    await using folder = await tempFolder();
    const slug = 'test-forge-metadata';
    await folder.write(`.genie/wishes/${slug}/${slug}-wish.md`, text);
    expect(findWish([folder.path], WORK)).toEqual({ slug, github_issue: expected });
  });
});
