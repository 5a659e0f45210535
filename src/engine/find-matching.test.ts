import { globSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { findMatching } from './find-matching.ts';

const FILES = [
  '.env',
  '.env.local',
  'a',
  'b.js',
  'conf/local.json',
  'conf/other.json',
  'conf/.hidden',
  'deep/one/two/x.ts',
  'deep/one/y.ts',
  'deep/.dot/z.ts',
  '.git/config',
  'a{b}',
];

const PATTERNS = [
  '.env',
  '.env*',
  '*',
  '**',
  '**/*',
  '*.js',
  'conf/*',
  'conf/{local,other}.json',
  '**/*.ts',
  'deep/**/x.ts',
  'deep/**',
  '{.env,conf/*}',
  './.env',
  '[ab]*',
  '?',
  'missing/x',
  'a/b',
  '**/.hidden',
  'deep/**/one/**/*.ts',
];

async function makeTree(): Promise<Awaited<ReturnType<typeof tempFolder>>> {
  const folder = await tempFolder();
  for (const name of FILES) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), name);
  }
  return folder;
}

describe('files that a pattern names', () => {
  it.each(PATTERNS)('are those that the system itself finds: %s', async (pattern) => {
    await using folder = await makeTree();
    const known = globSync(pattern, { cwd: folder.path }).filter(
      (name) => lstatSync(join(folder.path, name)).isFile() && !name.startsWith('.git/'),
    );
    expect((await findMatching(folder.path, pattern)).toSorted()).toEqual(known.toSorted());
  });

  it('[B3] are found at once by a pattern that could be read in countless ways', async () => {
    await using folder = await makeTree();
    writeFileSync(join(folder.path, 'a'.repeat(200)), '');
    mkdirSync(join(folder.path, ...Array.from({ length: 100 }, () => 'd')), { recursive: true });
    expect(await findMatching(folder.path, `${'*a'.repeat(14)}*b`)).toEqual([]);
    expect(await findMatching(folder.path, `${'**/d/'.repeat(4)}b`)).toEqual([]);
    await expect(findMatching(folder.path, '{a,b}'.repeat(24))).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('[B3] are not looked for without end', async () => {
    await using folder = await makeTree();
    await expect(findMatching(folder.path, '**/x', 10)).rejects.toMatchObject({
      code: 'too_large',
      details: { limit: 10, pattern: '**/x' },
    });
    expect(await findMatching(folder.path, 'deep/one/y.ts', 3)).toEqual(['deep/one/y.ts']);
  });

  it('do not lie behind a link, and are no links', async () => {
    await using folder = await makeTree();
    symlinkSync('deep', join(folder.path, 'link'));
    symlinkSync('.env', join(folder.path, 'copy'));
    symlinkSync('.', join(folder.path, 'around'));
    expect(await findMatching(folder.path, 'link/**')).toEqual([]);
    expect(await findMatching(folder.path, 'copy')).toEqual([]);
    expect(await findMatching(folder.path, '**/x.ts')).toEqual(['deep/one/two/x.ts']);
  });
});
