import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { LIMITS } from '#kernel/limits.ts';

const LOOK_MS = 250;

/** What of V8 is needed. */
export interface YoungSpace {
  /** Undefined where V8 has no such space. */
  readBytes(): number | undefined;
  setFlag(flag: string): void;
}

export const YOUNG_SPACE: YoungSpace = {
  readBytes: () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size,
  setFlag: setFlagsFromString,
};

/**
 * Keeps the space for new objects from growing on. Under load it doubles until it has 64 MB, which a server does not give
 * back; with a quarter of that garbage is collected more often, and a server full of runs needs a third less memory. How
 * far it may grow can only be said when a process starts, but how fast is asked each time. For the whole process, and
 * for good.
 */
export function limitYoungSpace(bytes: number = LIMITS.server_young_bytes, space = YOUNG_SPACE): void {
  const timer = setInterval(() => {
    const size = space.readBytes();
    if (size !== undefined && size < bytes) return;
    space.setFlag('--semi-space-growth-factor=1');
    clearInterval(timer);
  }, LOOK_MS);
  timer.unref();
}
