import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { openLiveScreen, type ScreenEvents } from './live-screen.ts';
import { findTerminal } from './terminal-device.ts';

const HIDE = '\u001b[?25l';
const SHOW = '\u001b[?25h';

/** A terminal that a test looks at and resizes. */
function openDevice(columns = 80) {
  const written: string[] = [];
  const size = { columns, rows: 24, color: false };
  let events: ScreenEvents | undefined;
  return {
    written,
    size,
    take: () => written.splice(0).join(''),
    get events(): ScreenEvents {
      if (events === undefined) throw new Error('nobody watches');
      return events;
    },
    isWatched: () => events !== undefined,
    device: {
      is_output: true,
      write: (text: string) => void written.push(text),
      size: () => size,
      watch(given: ScreenEvents) {
        events = given;
        return () => void (events = undefined);
      },
    },
  };
}

describe('a picture on a terminal', () => {
  test('is drawn over itself, with lines above it, and wiped at the end', async () => {
    const terminal = openDevice();
    const screen = openLiveScreen(terminal.device, { redraw_ms: 1 });
    screen.show(() => ['one', 'two']);
    await sleep(5);
    expect(terminal.take()).toBe(`${HIDE}one\ntwo\n`);
    screen.above(() => terminal.device.write('a line\n'));
    expect(terminal.take()).toBe(`\u001b[2A\r\u001b[Ja line\n${HIDE}one\ntwo\n`);
    screen.close();
    expect(terminal.take()).toBe(`\u001b[2A\r\u001b[J${SHOW}`);
    expect(terminal.isWatched()).toBe(false);
  });

  test('many changes are one picture', async () => {
    const terminal = openDevice();
    const screen = openLiveScreen(terminal.device, { redraw_ms: 20 });
    for (let at = 0; at < 1_000; at += 1) screen.show(() => [`${at}`]);
    expect(terminal.take()).toBe('');
    await sleep(60);
    expect(terminal.take()).toBe(`${HIDE}999\n`);
    screen.show(() => ['never']);
    screen.close();
    await sleep(30);
    expect(terminal.take()).not.toContain('never');
    expect(LIMITS.screen_redraw_ms).toBeGreaterThanOrEqual(100);
  });

  test('a window that becomes narrower breaks the lines that stand there', async () => {
    const terminal = openDevice(10);
    const screen = openLiveScreen(terminal.device, { redraw_ms: 1 });
    screen.show(({ columns }) => [`\u001b[31m${'x'.repeat(columns)}\u001b[39m`, 'sum']);
    await sleep(5);
    terminal.take();
    terminal.size.columns = 4;
    terminal.events.resized();
    expect(terminal.take()).toContain(`\u001b[4A\r\u001b[J\u001b[31mxxxx\u001b[39m\nsum\n`);
    screen.close();
  });

  test('gives the cursor back when the process is stopped or ends', async () => {
    const terminal = openDevice();
    const screen = openLiveScreen(terminal.device, { redraw_ms: 1 });
    screen.show(() => ['one']);
    await sleep(5);
    terminal.take();
    terminal.events.continued();
    expect(terminal.take()).toBe('');
    terminal.events.suspended();
    screen.show(() => ['two']);
    await sleep(5);
    expect(terminal.take()).toBe(SHOW);
    terminal.events.continued();
    expect(terminal.take()).toBe(`${HIDE}two\n`);
    terminal.events.exits();
    expect(terminal.take()).toBe(SHOW);
    screen.close();
  });
});

test('where a picture can be drawn', () => {
  const find = (stdout: boolean, stderr: boolean, env = {}) =>
    findTerminal({ isTerminal: { stdout, stderr }, env, color: true });
  expect(find(false, false)).toBeUndefined();
  expect(find(true, true, { TERM: 'dumb' })).toBeUndefined();
  expect(find(true, true)?.is_output).toBe(true);
  expect(find(false, true)?.is_output).toBe(false);
  expect(find(true, true, { NO_COLOR: '1' })?.size().color).toBe(false);
  const { columns, rows } = find(true, true)?.size() ?? { columns: 0, rows: 0 };
  expect(columns).toBeGreaterThan(0);
  expect(rows).toBeGreaterThan(0);
});
