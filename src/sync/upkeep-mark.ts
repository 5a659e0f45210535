import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { replaceFile } from './place-file.ts';

/** Whether logs and rescue refs are to be looked after now. Cheap: every command that writes asks. */
export function isUpkeepDue(store_dir: string, now: number): boolean {
  // Where no agent has ever worked there is nothing to look after.
  if (statSync(join(store_dir, 'attempts'), { throwIfNoEntry: false }) === undefined) return false;
  const last = statSync(toMark(store_dir), { throwIfNoEntry: false })?.mtimeMs;
  // A clock that was set back puts nothing off.
  return last === undefined || last > now || now - last >= KEPT_LIMITS.upkeep_ms;
}

/** Written before the work begins: others need not do it too, and what fails is tried again when it is due again. */
export function markUpkeep(store_dir: string, now: number): void {
  const mark = toMark(store_dir);
  // A new file each time: only its owner may say what time it has, and several people may share the repository.
  replaceFile(mark, '', 0o600);
  utimesSync(mark, now / 1_000, now / 1_000);
}

function toMark(store_dir: string): string {
  return join(store_dir, 'kept-up');
}
