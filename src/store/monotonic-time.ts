/**
 * Milliseconds that only rise, for deadlines. Not `performance.now()`: its first use loads a part of Node that takes a
 * cold command more than a millisecond.
 */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
