import { dirname } from 'node:path';
import { readSharedModes } from '#git/shared-modes.ts';
import { systemClock } from '#kernel/clock.ts';
import type { ForgeError } from '#kernel/errors.ts';
import { healStore as healAt } from '#store/open-store.ts';
import { locationOf } from '#store/store-location.ts';
import { isDamage } from '#store/sqlite/translate-error.ts';
import { holdWhileMending } from './hold-while-mending.ts';

/** Makes good what a store_corrupt was about, so that what failed can be tried once more. */
export async function healStore(error: ForgeError, notice: (line: string) => void): Promise<void> {
  if (!isDamage(error)) throw error;
  const { path } = error.details;
  if (typeof path !== 'string') return;
  const location = locationOf(path);
  await healAt(location, {
    clock: systemClock,
    modes: () => readSharedModes(dirname(location.folder)),
    hold: holdWhileMending,
    notice,
  });
}
