/** The longest turn of an event loop: how long its thread had the processor, and how long it took. */
export interface LongestTurn {
  readonly cpu_ms: number;
  readonly wall_ms: number;
}

export interface LoopWatch extends Disposable {
  /** What the test does itself, such as collecting garbage, is left out. */
  skip<T>(work: () => T): T;
}

export function watchLoop(tell: (longest: LongestTurn) => void): LoopWatch;
