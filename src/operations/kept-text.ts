import type { KeptUse } from '#contract/kept-use.ts';
import { byteSize } from '#kernel/byte-size.ts';
import { countNoun } from '#kernel/text.ts';

const NAMES: Readonly<Record<KeptUse['what'], string>> = {
  run_logs: 'run logs',
  rescues: 'rescue refs',
  worktrees: 'finished worktrees',
  events: 'events',
  replica: 'local replica',
};

export function keptName({ what }: Pick<KeptUse, 'what'>): string {
  return NAMES[what];
}

/** `3 of 500, kept for 90 days`. */
export function keptText(use: KeptUse): string {
  const { days } = use.allowed;
  return [...listUses(use), ...(days === null ? [] : [`kept for ${countNoun(days, 'day')}`])].join(', ');
}

/** `run logs 1.2 MB of 2.0 GB; rescue refs 3 of 500`. */
export function keptLine(all: readonly KeptUse[]): string {
  return all.map((use) => `${keptName(use)} ${listUses(use).join(', ')}`).join('; ');
}

/** What has no bound of its own is not counted. */
function listUses({ number, bytes, allowed }: KeptUse): string[] {
  const count = (value: number): string => value.toLocaleString('en');
  return [
    ...(number === null || allowed.number === null ? [] : [`${count(number)} of ${count(allowed.number)}`]),
    ...(bytes === null || allowed.bytes === null ? [] : [`${byteSize(bytes)} of ${byteSize(allowed.bytes)}`]),
  ];
}
