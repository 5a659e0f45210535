import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isUuid } from '#kernel/ids.ts';
import { PRIVATE } from './file-modes.ts';
import { keepStoreIdentity, readStoreId } from './store-identity.ts';
import { toUuid } from './to-uuid.ts';

const PROJECT = { project_id: toUuid('a project'), first_project_id: toUuid('older'), modes: PRIVATE };

describe('the identity of a store', () => {
  it('is given once, and is the same at every look', async () => {
    using temp = tempFolder();
    const at = place(temp.path, 'a');
    const kept = keepStoreIdentity(at, PROJECT);
    expect(isUuid(kept.store_id)).toBe(true);
    expect(keepStoreIdentity(at, PROJECT)).toEqual(kept);
    expect(readStoreId(at)).toBe(kept.store_id);
    expect(readdirSync(at.folder)).toEqual(['identity.json']);
  });

  it('changes nothing by a look, and tells two places apart that have none yet', async () => {
    using temp = tempFolder();
    const [a, b] = [place(temp.path, 'a'), place(temp.path, 'b')];
    expect(readStoreId(a)).toBe(readStoreId(a));
    expect(readStoreId(a)).not.toBe(readStoreId(b));
    expect(isUuid(readStoreId({ folder: join(temp.path, 'none') }))).toBe(true);
    expect(readdirSync(a.folder)).toEqual([]);
    expect(readdirSync(temp.path).toSorted()).toEqual(['a', 'b']);
  });

  it('is another one for a copy of its folder, at the first look and from then on', async () => {
    using temp = tempFolder();
    const [original, copy] = [place(temp.path, 'a'), { folder: join(temp.path, 'b') }];
    const { store_id } = keepStoreIdentity(original, PROJECT);
    cpSync(original.folder, copy.folder, { recursive: true });
    expect(readStoreId(copy)).not.toBe(store_id);
    const other = keepStoreIdentity(copy, PROJECT);
    expect(other).toMatchObject({ project_id: PROJECT.project_id });
    expect(other.store_id).not.toBe(store_id);
    expect([readStoreId(original), readStoreId(copy)]).toEqual([store_id, other.store_id]);
    // What it was copied from may go.
    rmSync(original.folder, { recursive: true });
    expect(keepStoreIdentity(copy, PROJECT)).toMatchObject({ store_id: other.store_id });
  });

  it('stays when its folder is moved, and when another store is put where it was', async () => {
    using temp = tempFolder();
    const [before, after] = [place(temp.path, 'a'), { folder: join(temp.path, 'b') }];
    const { store_id } = keepStoreIdentity(before, PROJECT);
    renameSync(before.folder, after.folder);
    expect(readStoreId(after)).toBe(store_id);
    const another = keepStoreIdentity(place(temp.path, 'a'), PROJECT);
    expect(another.store_id).not.toBe(store_id);
    expect(keepStoreIdentity(after, PROJECT).store_id).toBe(store_id);
  });

  it('is another one for a copy of what was moved, and of a copy', async () => {
    using temp = tempFolder();
    const [first, moved] = [place(temp.path, 'a'), { folder: join(temp.path, 'b') }];
    const { store_id } = keepStoreIdentity(first, PROJECT);
    renameSync(first.folder, moved.folder);
    const copies = ['c', 'd'].map((name) => ({ folder: join(temp.path, name) }));
    for (const { folder } of copies) cpSync(moved.folder, folder, { recursive: true });
    const ids = [moved, ...copies].map((at) => readStoreId(at));
    expect(ids[0]).toBe(store_id);
    expect(new Set(ids).size).toBe(3);
  });

  it('is the same in its place where its file was put back from a copy', async () => {
    using temp = tempFolder();
    const at = place(temp.path, 'a');
    const { store_id } = keepStoreIdentity(at, PROJECT);
    cpSync(at.folder, join(temp.path, 'kept'), { recursive: true });
    rmSync(at.folder, { recursive: true });
    cpSync(join(temp.path, 'kept'), at.folder, { recursive: true });
    expect(readStoreId(at)).toBe(store_id);
  });

  it('is the same by a link to its folder', async () => {
    using temp = tempFolder();
    const at = place(temp.path, 'a');
    symlinkSync(at.folder, join(temp.path, 'link'));
    const { store_id } = keepStoreIdentity({ folder: join(temp.path, 'link') }, PROJECT);
    expect(readStoreId(at)).toBe(store_id);
  });

  it('takes the id of the project that its config says', async () => {
    using temp = tempFolder();
    const at = place(temp.path, 'a');
    const { store_id } = keepStoreIdentity(at, PROJECT);
    const project_id = toUuid('another project');
    expect(keepStoreIdentity(at, { ...PROJECT, project_id })).toMatchObject({ store_id, project_id });
    // A config that says none, and another beginning than once, changes nothing.
    const older = { ...PROJECT, project_id: undefined };
    expect(keepStoreIdentity(at, older)).toMatchObject({ store_id, project_id });
    const { first_project_id } = PROJECT;
    expect(keepStoreIdentity(place(temp.path, 'b'), older)).toMatchObject({ project_id: first_project_id });
  });

  it.each(['', 'not JSON', '{"store_id":"x"}', '[]', 'null'])(
    'is made anew where its file says %j',
    async (text) => {
      using temp = tempFolder();
      const at = place(temp.path, 'a');
      writeFileSync(join(at.folder, 'identity.json'), text);
      const { store_id } = keepStoreIdentity(at, PROJECT);
      expect(readStoreId(at)).toBe(store_id);
      expect(JSON.parse(readFileSync(join(at.folder, 'identity.json'), 'utf8'))).toMatchObject({ store_id });
    },
  );

  it.skipIf(process.getuid?.() === 0)('is that of its place where nothing can be written', async () => {
    using temp = tempFolder();
    const at = place(temp.path, 'a');
    chmodSync(at.folder, 0o500);
    expect(keepStoreIdentity(at, PROJECT).store_id).toBe(readStoreId(at));
    chmodSync(at.folder, 0o700);
  });
});

function place(parent: string, name: string): { folder: string } {
  const folder = join(parent, name);
  mkdirSync(folder);
  return { folder };
}

function tempFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'forge-identity-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
