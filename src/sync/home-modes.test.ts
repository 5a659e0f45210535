import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { HOME_FILES, HOME_FOLDERS } from './home-files.ts';
import { describeWideModes } from './home-modes.ts';

it.runIf(process.platform !== 'win32')(
  '[L7] names the home, the token files and the stores that others can reach',
  async () => {
    await using folder = await tempFolder({ folder: 'home' });
    const home = folder.path;
    const token = join(home, 'server-token');
    const store_dir = join(home, 'store');
    const paths = { store_dir, common_dir: home };
    mkdirSync(store_dir, { mode: 0o700 });
    writeFileSync(token, 'x', { mode: 0o600 });
    writeFileSync(join(store_dir, 'forge.db'), '', { mode: 0o600 });
    chmodSync(home, 0o755);
    expect(describeWideModes(home, [paths])).toEqual([]);
    chmodSync(home, 0o777);
    chmodSync(token, 0o644);
    chmodSync(join(store_dir, 'forge.db'), 0o644);
    const told = describeWideModes(home, [paths]).map(({ what, hint }) => `${what}: ${hint}`);
    expect(told).toHaveLength(3);
    expect(told[0]).toContain(`chmod go-w ${home}`);
    expect(told[1]).toContain(`chmod 600 ${token}`);
    expect(told[2]).toContain('forge doctor --fix');
    chmodSync(home, 0o755);
  },
);

it.runIf(process.platform !== 'win32')(
  'names every file and folder of the home that others can reach, and none that they cannot',
  async () => {
    await using folder = await tempFolder({ folder: 'home' });
    const home = folder.path;
    chmodSync(home, 0o755);
    const tell = (): string[] => describeWideModes(home, []).map(({ what, hint }) => `${what}: ${hint}`);
    for (const name of HOME_FOLDERS) mkdirSync(join(home, name), { mode: 0o755 });
    for (const name of Object.keys(HOME_FILES)) writeFileSync(join(home, name), '', { mode: 0o600 });
    expect(tell()).toEqual([]);
    for (const name of HOME_FOLDERS) {
      for (const mode of [0o777, 0o775]) {
        chmodSync(join(home, name), mode);
        expect(tell()).toEqual([expect.stringContaining(`chmod go-w ${join(home, name)}`)]);
      }
      chmodSync(join(home, name), 0o755);
    }
    for (const [name, kind] of Object.entries(HOME_FILES)) {
      for (const mode of [0o666, 0o660, 0o620]) {
        chmodSync(join(home, name), mode);
        expect(tell()).toEqual([expect.stringContaining(`chmod 600 ${join(home, name)}`)]);
      }
      // To read is harm only where there is a secret.
      chmodSync(join(home, name), 0o644);
      expect(tell()).toHaveLength(kind === 'authority' ? 0 : 1);
      chmodSync(join(home, name), 0o600);
    }
  },
);
