import { describe, expect, it } from 'vitest';
import { createMeter } from './progress-meter.ts';

const CLEAR = '\r\u001b[K';

/** A meter on a clock of its own, and what it drew. */
function watch(isTerminal: boolean) {
  const drawn: string[] = [];
  let now = 1_000_000;
  const meter = createMeter({
    isTerminal: () => isTerminal,
    now: () => now,
    draw: (text) => drawn.push(text),
  });
  return { drawn, meter, wait: (ms: number) => void (now += ms) };
}

describe('the meter', () => {
  it('shows nothing where nobody looks', () => {
    const { meter, drawn, wait } = watch(false);
    for (let done = 0; done < 10; done += 1) {
      wait(1_000);
      meter('Reading', done, 10);
    }
    meter('', 0, 0);
    expect(drawn).toEqual([]);
  });

  it('shows nothing of work that is over within a second', () => {
    const { meter, drawn, wait } = watch(true);
    meter('Reading', 0, 10);
    wait(999);
    meter('Reading', 9, 10);
    meter('', 0, 0);
    expect(drawn).toEqual([]);
  });

  it('shows how far longer work is, at most ten times a second, and wipes it away at the end', () => {
    const { meter, drawn, wait } = watch(true);
    meter('Reading', 0, 100);
    wait(1_000);
    meter('Reading', 50, 100);
    wait(99);
    meter('Reading', 60, 100);
    wait(1);
    meter('Reading', 75, 100);
    meter('', 0, 0);
    expect(drawn).toEqual([
      `${CLEAR}Reading ${'█'.repeat(12)}${'░'.repeat(12)} 50 %`,
      `${CLEAR}Reading ${'█'.repeat(18)}${'░'.repeat(6)} 75 %`,
      CLEAR,
    ]);
  });

  it('never shows more than all of it, and waits again before the next work', () => {
    const { meter, drawn, wait } = watch(true);
    meter('Reading', 0, 100);
    wait(2_000);
    meter('Reading', 130, 100);
    meter('', 0, 0);
    meter('Writing', 0, 100);
    wait(500);
    meter('Writing', 50, 100);
    meter('', 0, 0);
    expect(drawn).toEqual([`${CLEAR}Reading ${'█'.repeat(24)} 100 %`, CLEAR]);
  });
});
