import { stripVTControlCharacters } from 'node:util';
import { LIMITS } from '#kernel/limits.ts';
import type { Screen, ScreenSize } from '#operations/operation.ts';
import { textWidth } from '#operations/text-width.ts';

export interface ScreenDevice {
  readonly write: (text: string) => void;
  /** Asked for every picture: a window may change its size. */
  readonly size: () => ScreenSize;
  /** Tells of another size, of the process being stopped and continued, and of its end, until the answer is called. */
  readonly watch: (events: ScreenEvents) => () => void;
  /** Lines of the command itself go to the same terminal. */
  readonly is_output: boolean;
}

export interface ScreenEvents {
  readonly resized: () => void;
  /** The terminal is somebody else's until `continued`. */
  readonly suspended: () => void;
  readonly continued: () => void;
  /** Nothing can be waited for any more. */
  readonly exits: () => void;
}

export interface LiveScreen extends Screen {
  /** Has something written above the picture, by whoever writes it. */
  readonly above: (write: () => void) => void;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_BELOW = '\r\u001b[J';

/** A picture at the end of a terminal's text, drawn over itself. The cursor stands below it. */
export function openLiveScreen(
  device: ScreenDevice,
  { redraw_ms = LIMITS.screen_redraw_ms }: { readonly redraw_ms?: number } = {},
): LiveScreen {
  let render: (size: ScreenSize) => readonly string[] = () => [];
  let drawn: readonly string[] = [];
  let isHeld = false;
  let timer: NodeJS.Timeout | undefined;

  /** How far the cursor stands below the picture: a window that became narrower has broken its lines. */
  const clear = (): string => {
    const { columns } = device.size();
    const height = drawn.reduce((sum, line) => sum + countRows(line, columns), 0);
    drawn = [];
    return height === 0 ? '' : `\u001b[${height}A${CLEAR_BELOW}`;
  };
  const draw = (): void => {
    if (isHeld) return;
    const before = clear();
    drawn = render(device.size());
    device.write(`${HIDE_CURSOR}${before}${drawn.map((line) => `${line}\n`).join('')}`);
  };
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const unwatch = device.watch({
    resized: () => draw(),
    suspended() {
      device.write(SHOW_CURSOR);
      isHeld = true;
    },
    continued() {
      if (!isHeld) return;
      // What stands there now was written by others.
      drawn = [];
      isHeld = false;
      draw();
    },
    exits: () => device.write(SHOW_CURSOR),
  });
  return {
    is_output: device.is_output,
    show(next) {
      render = next;
      // The first change waits as long as the last: together they are one picture.
      timer ??= setTimeout(() => {
        timer = undefined;
        draw();
      }, redraw_ms).unref();
    },
    above(write) {
      device.write(clear());
      write();
      draw();
    },
    close() {
      cancel();
      unwatch();
      device.write(`${clear()}${SHOW_CURSOR}`);
    },
  };
}

function countRows(line: string, columns: number): number {
  return Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / Math.max(1, columns)));
}
