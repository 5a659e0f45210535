import { it } from 'vitest';
import { expectOwn } from '../../tests/support/swapped-folder.ts';

const TRIES = 100_000;

it(`[D3] ${TRIES.toLocaleString('en')} reads and writes below a folder that is swapped for a link`, async ({
  annotate,
}) => {
  await expectOwn(TRIES / 2);
  await annotate(`${TRIES} tries`);
});
