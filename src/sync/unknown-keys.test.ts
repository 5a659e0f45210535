import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
});
