import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { listUnknownKeys } from './unknown-keys.ts';

describe('[A12] keys that nobody reads', () => {
  it('are found in the three files with the key that was meant, and what others name is not one of them', async () => {
    await using home = await tempFolder();
    await using forge = await tempFolder();
    const paths = { forge_dir: forge.path, store_dir: forge.path };
    expect(listUnknownKeys(paths, home.path)).toEqual([]);
    const personal = join(home.path, 'settings.json');
    const shared = join(forge.path, 'config.json');
    const own = join(home.path, 'config.json');
    writeFileSync(personal, '{"scheduler": {"budgetUsd": 1, "max": 2}, "cap": {}, "prices": {"any": {}}}');
    writeFileSync(
      shared,
      '{"name": "x", "sync": {"exportOn": "y", "exportON": 1}, "merge": {"autO": true}, "frobnicate": 1, "id_prefix": 1, "issueTracker": {"any": 1}}',
    );
    writeFileSync(own, '{"version": 1, "projects": [{"any": 1}], "server": {"prot": 1}, "sever": {}}');
    expect(listUnknownKeys(paths, home.path)).toEqual([
      { path: personal, key: 'scheduler.budgetUsd', meant: 'scheduler.budget_usd' },
      { path: personal, key: 'cap', meant: 'caps' },
      { path: shared, key: 'sync.exportON', meant: 'sync.exportOn' },
      { path: shared, key: 'merge.autO', meant: 'merge.auto' },
      { path: shared, key: 'frobnicate', meant: undefined },
      { path: shared, key: 'id_prefix', meant: 'idPrefix' },
      { path: own, key: 'server.prot', meant: 'server.port' },
      { path: own, key: 'sever', meant: 'server' },
    ]);
  });

  it('are compared with those that were meant up to a number that a person reads', async () => {
    await using home = await tempFolder();
    await using forge = await tempFolder();
    const keys = Array.from({ length: 60_000 }, (_, at) => [`setupp${at}`, 1]);
    const merge = { autO: true, ...Object.fromEntries(keys) };
    writeFileSync(join(forge.path, 'config.json'), JSON.stringify({ name: 'x', merge }));
    const paths = { forge_dir: forge.path, store_dir: forge.path };
    const found = listUnknownKeys(paths, home.path);
    expect(found).toHaveLength(60_001);
    expect(found[0]).toMatchObject({ key: 'merge.autO', meant: 'merge.auto' });
    expect(found.slice(LIMITS.error_names).every(({ meant }) => meant === undefined)).toBe(true);
    const long = `${'a'.repeat(500_000)}`;
    writeFileSync(join(forge.path, 'config.json'), JSON.stringify({ name: 'x', [long]: 1 }));
    expect(listUnknownKeys(paths, home.path)).toMatchObject([{ key: long, meant: undefined }]);
  });
});
