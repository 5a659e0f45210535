/** A signal that fires so long after another one: what is nearly done may end well, what hangs does not hold the end up. */
export interface GraceSignal extends Disposable {
  readonly signal: AbortSignal;
}

export function graceSignal(outer: AbortSignal, grace_ms: number): GraceSignal {
  const own = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer = setTimeout(() => own.abort(), grace_ms);
  };
  if (outer.aborted) wait();
  else outer.addEventListener('abort', wait, { once: true });
  return {
    signal: own.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer.removeEventListener('abort', wait);
    },
  };
}
