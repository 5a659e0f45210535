import { writeSync } from 'node:fs';
import type { Meter } from '#operations/operation.ts';

const WIDTH = 24;
/** Work that is over sooner needs no bar. */
const PATIENCE_MS = 1_000;
const REDRAW_MS = 100;
const CLEAR = '\r\u001b[K';

/** A bar on standard error where that is a terminal: drawn over itself, and wiped at the end. */
export function createMeter(options: {
  /** Asked when there is something to draw: to look at the descriptor may load Node's streams. */
  readonly isTerminal: () => boolean;
  readonly now: () => number;
  readonly draw?: (text: string) => void;
}): Meter {
  const { draw = drawOnTerminal } = options;
  let began: number | undefined;
  let drawn = 0;
  let isTerminal: boolean | undefined;
  return (label, done, total) => {
    const now = options.now();
    began ??= now;
    if (total === 0) {
      if (drawn > 0) draw(CLEAR);
      began = undefined;
      drawn = 0;
      return;
    }
    if (now - began < PATIENCE_MS || now - drawn < REDRAW_MS) return;
    isTerminal ??= options.isTerminal();
    if (!isTerminal) return;
    drawn = now;
    const part = Math.min(1, done / total);
    const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░');
    draw(`${CLEAR}${label} ${bar} ${Math.floor(part * 100)} %`);
  };
}

function drawOnTerminal(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody looks.
  }
}
