import { LIFE } from '#domain/lost-values.ts';
import { continueRun, type OwnRun, type OwnWrite } from '#domain/own-values.ts';
import type { ShownLine, ShownRows } from './fold-rows.ts';

/**
 * They stand among what lines of files showed, under the name of no file: there older programs, which use the same
 * store, leave them alone, and the local replica has lines of them that every version reads.
 */
export const HERE = 'written here';

export function readOwnRun(rows: Pick<ShownRows, 'readShown'>, id: string): OwnRun | undefined {
  const digests = rows.readShown({ path: HERE, task_id: id, seal: LIFE });
  return digests === undefined ? undefined : decodeRun(digests);
}

/** Notes what was written here, and gives it as it stands then. */
export function noteOwnWrite(
  rows: Pick<ShownRows, 'readShown' | 'writeShown'>,
  id: string,
  write: OwnWrite,
): ShownLine {
  const run = continueRun(readOwnRun(rows, id), write);
  const digests = run.map(({ stamp, hash }) => `${stamp.toString(36)}.${hash}`).join(' ');
  const shown = { path: HERE, task_id: id, seal: LIFE, digests };
  rows.writeShown(shown, { outlives: true });
  return shown;
}

function decodeRun(text: string): OwnRun {
  return text.split(' ').map((mark) => {
    const [stamp = '', hash = ''] = mark.split('.');
    return { stamp: Number.parseInt(stamp, 36), hash };
  });
}
