import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');

/** What only the store knows: its files by name, and which database it is made of. */
const PRIVATE = [/['"`/]forge\.db\b/, /-(?:wal|shm)\b/, /\bopenSqliteStore\b/, /#store\/(?:sqlite|memory)\//];

/** The lines of code, not of comments, that know it. */
function findKnowing(text: string): string[] {
  return text.split('\n').filter((line) => {
    const code = line.replace(/(?<!:)\/\/.*$|^\s*\/?\*.*$/, '');
    return PRIVATE.some((one) => one.test(code));
  });
}

describe('what a store is made of', () => {
  it.each([
    ["  const path = join(folder, 'forge.db');", 1],
    ['  rmSync(`${path}-wal`);', 1],
    ['  await openSqliteStore({ database, clock });', 1],
    ["import { openOnce } from '#store/sqlite/open-parts.ts';", 1],
    ['/** A link to forge.db, which has its log in forge.db-wal. */', 0],
    ['  await openStore(paths.store, { clock });', 0],
  ])('the check sees who knows it in %j: %i', (text, count) => {
    expect(findKnowing(text)).toHaveLength(count);
  });

  it('no other room knows', () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
      (name) =>
        name.endsWith('.ts') && !name.startsWith('store/') && !/\.test\.ts$|\.generated\.ts$/.test(name),
    );
    expect(files.length).toBeGreaterThan(800);
    const found = files.flatMap((name) =>
      findKnowing(readFileSync(join(SOURCE, name), 'utf8')).map((line) => `${name}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});
