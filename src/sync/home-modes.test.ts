import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
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
