import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { forgeFolder } from '../support/forge-cli.ts';

/** `npm test` has one run of the demo, by `places.e2e.test.ts`, with an answer for programs. */
it('the demo survives a reader that goes away, and leaves nothing behind', async () => {
  await using folder = await forgeFolder();
  const temporary = join(dirname(folder.path), 'tmp');
  await mkdir(temporary);
  const { stdout, stderr } = await folder.bash('forge demo | head -1; echo "${PIPESTATUS[0]}"', {
    env: { TMPDIR: temporary },
  });
  expect({ last: stdout.split('\n').at(-2), stderr }).toEqual({ last: '0', stderr: '' });
  expect(readdirSync(temporary)).toEqual([]);
});
