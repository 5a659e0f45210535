import type { FileLine } from '#store/sync-store.ts';

/** `done` of `total`, in whatever the work is counted; both 0 at its end. */
export type WorkMeter = (label: string, done: number, total: number) => void;

/** So many lines between two calls: each of them may draw. */
export const METER_LINES = 1_000;

/** The lines of a file of so many bytes as they come, told to the meter. What a line takes in bytes is guessed. */
export function* meterLines(
  lines: Iterable<FileLine>,
  { label, bytes, meter }: { readonly label: string; readonly bytes: number; readonly meter: WorkMeter },
): Generator<FileLine> {
  let count = 0;
  let read = 0;
  try {
    for (const line of lines) {
      yield line;
      count += 1;
      read += line.text.length + 1;
      if (count % METER_LINES === 0) meter(label, read, bytes);
    }
  } finally {
    meter('', 0, 0);
  }
}
