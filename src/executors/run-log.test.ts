import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { LogLine } from '#contract/transcript.ts';
import { LIMITS } from '#kernel/limits.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { readLog, tailLog } from './read-log.ts';
import { openRunLog, type RunLogOptions } from './run-log.ts';

const clock = { now: () => Date.UTC(2026, 0, 1) };
const plain = (text: string): string => text;

function say(text: string): TranscriptEntry {
  return { kind: 'message', role: 'agent', text };
}

async function tempLog() {
  const folder = await tempFolder();
  const path = join(folder.path, 'runs', 'one.jsonl');
  return {
    path,
    open: (more: Partial<Pick<RunLogOptions, 'redact' | 'limits' | 'mode'>> = {}) =>
      openRunLog({ path, clock, redact: plain, ...more }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function textsOf(path: string, offset = 0): string[] {
  return readLog({ path, offset, limit: 10_000 }).lines.map((line) =>
    'text' in line ? line.text : line.kind,
  );
}

describe('openRunLog', () => {
  it('[S231] writes one JSON object a line with schema version, sequence number and time', async () => {
    await using log = await tempLog();
    using writer = log.open();
    writer.append(say('one'));
    writer.append({ kind: 'tool_call', id: 't1', tool: 'Write', input: { file_path: 'a' } });
    writer.close();
    const lines = readFileSync(log.path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => LogLine.parse(JSON.parse(line)));
    expect(lines.map(({ v, seq, at }) => [v, seq, at])).toEqual([
      [1, 1, '2026-01-01T00:00:00.000Z'],
      [1, 2, '2026-01-01T00:00:00.000Z'],
    ]);
  });

  it('lets nobody else read it', async () => {
    await using log = await tempLog();
    using writer = log.open();
    writer.append(say('one'));
    writer.flush();
    expect(statSync(log.path).mode & 0o777).toBe(0o600);
  });

  it('[H4] lets those read every part of it who share the repository', async () => {
    await using log = await tempLog();
    using writer = log.open({ mode: 0o664, limits: { bytes: 4_000 } });
    for (let n = 0; n < 5; n += 1) {
      writer.append(say('x'.repeat(1_000)));
      writer.flush();
    }
    const folder = dirname(log.path);
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes.length).toBeGreaterThan(1);
    expect(new Set(modes)).toEqual(new Set([0o664]));
  });

  it('writes by itself soon, and at once where much waits', async () => {
    await using log = await tempLog();
    using writer = log.open();
    writer.append(say('x'.repeat(100_000)));
    expect(statSync(log.path).size).toBeGreaterThan(100_000);
    writer.append(say('little'));
    await new Promise((done) => setImmediate(() => setImmediate(done)));
    expect(textsOf(log.path).at(-1)).toBe('little');
  });

  it('goes on with the numbers of the writer before it', async () => {
    await using log = await tempLog();
    const first = log.open();
    first.append(say('one'));
    first.close();
    using second = log.open();
    expect(second.seq).toBe(1);
    second.append(say('two'));
    second.flush();
    expect(readLog({ path: log.path, offset: 0, limit: 9 }).lines.map((line) => line.seq)).toEqual([1, 2]);
  });

  it.each([
    ['half a line', '{"v":1,"seq":3,"at":"2026'],
    ['zeros', '\0'.repeat(5_000)],
    ['a line that is no JSON', 'what\n'],
    ['a line of somebody else', '{"v":2,"seq":9}\n{"v":1'],
  ])('cuts what a killed writer left torn: %s', async (_what, torn) => {
    await using log = await tempLog();
    const first = log.open();
    first.append(say('one'));
    first.append(say('two'));
    first.close();
    appendFileSync(log.path, torn);
    using second = log.open();
    second.append(say('three'));
    second.flush();
    expect(textsOf(log.path)).toEqual(['one', 'two', 'three']);
    expect(readLog({ path: log.path, offset: 0, limit: 9 }).lines.map((line) => line.seq)).toEqual([1, 2, 3]);
  });

  it('survives kill -9 of the writer: what it had written is there, and the numbers go on', async () => {
    await using log = await tempLog();
    const program = `
      import { openRunLog } from ${JSON.stringify(join(import.meta.dirname, 'run-log.ts'))};
      const log = openRunLog({ path: ${JSON.stringify(log.path)}, clock: { now: () => 0 }, redact: (text) => text });
      for (let i = 1; i <= 500; i += 1) log.append({ kind: 'note', text: 'x'.repeat(1000) + i });
      process.kill(process.pid, 'SIGKILL');
    `;
    expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', program])).toThrow(
      'Command failed',
    );
    using writer = log.open();
    const seen = writer.seq;
    expect(seen).toBeGreaterThan(300);
    writer.append(say('after'));
    writer.flush();
    const { lines } = readLog({ path: log.path, offset: 0, limit: 10_000 });
    expect(lines.map((line) => line.seq)).toEqual(Array.from({ length: seen + 1 }, (_, at) => at + 1));
  });

  it('takes secrets out before anything is written, wherever they stand', async () => {
    await using log = await tempLog();
    using writer = log.open({ redact: (text) => text.replaceAll('hunter2secret', '[redacted]') });
    writer.append(say('it is hunter2secret'));
    writer.append({
      kind: 'tool_call',
      id: 't',
      tool: 'Bash',
      input: { env: [{ hunter2secret: 'x', KEY: 'a hunter2secret b' }] },
    });
    writer.append({ kind: 'error', code: 'hunter2secret', text: 'x' });
    writer.flush();
    const text = readFileSync(log.path, 'utf8');
    expect(text).not.toContain('hunter2secret');
    expect(text.match(/\[redacted\]/g)).toHaveLength(4);
  });

  it('looks at a bounded number of texts, and of characters, of one entry', async () => {
    await using log = await tempLog();
    const seen: number[] = [];
    using writer = log.open({
      redact: (text) => {
        seen.push(text.length);
        return text;
      },
    });
    const tool = (input: unknown) => writer.append({ kind: 'tool_call', id: 't', tool: 'x', input });
    const many = LIMITS.log_entry_texts + 1;
    for (const input of [
      Array.from({ length: many }, () => 'a'),
      Object.fromEntries(Array.from({ length: many }, (_, at) => [`k${at}`, 0])),
      { deep: [{ deeper: Array.from({ length: many }, () => ['a']) }] },
    ]) {
      expect(tool(input)).toEqual({
        kind: 'note',
        text: expect.stringContaining('(tool_call) is left out') as string,
      });
      expect(seen).toEqual([]);
    }
    const long = Array.from({ length: 60 }, () => 'x'.repeat(100_000));
    tool(long);
    expect(seen.reduce((sum, length) => sum + length, 0)).toBeLessThan(2 * LIMITS.log_entry_length);
    seen.length = 0;
    // What agents say every day is whole.
    const usual = { command: 'npm test', files: Array.from({ length: 500 }, (_, at) => `src/file-${at}.ts`) };
    expect(tool(usual)).toMatchObject({ kind: 'tool_call', input: usual });
  });

  it('[H2] looks at no more of a long text than it keeps, and shows no half of a secret at the cut', async () => {
    await using log = await tempLog();
    const seen: number[] = [];
    using writer = log.open({
      redact: (text) => {
        seen.push(text.length);
        return text.replaceAll('hunter2secret', '');
      },
    });
    writer.append(say('hunter2secret'.repeat(600_000)));
    writer.append(say(`${'x'.repeat(131_070)}hunter2secret${'y'.repeat(8_000_000)}`));
    writer.flush();
    const [none, some] = textsOf(log.path);
    expect(none).toBe(' (7800000 more characters)');
    expect(some).toMatch(/^x{131059} \(\d+ more characters\)$/);
    expect(Math.max(...seen)).toBeLessThan(200_000);
  });

  it('shortens a line that is too long and says by how much', async () => {
    await using log = await tempLog();
    using writer = log.open({ limits: { line_bytes: 1_000 } });
    writer.append(say('ü'.repeat(5_000)));
    writer.append({
      kind: 'tool_call',
      id: 't',
      tool: 'x',
      input: Array.from({ length: 2_000 }, () => 'yy'),
    });
    writer.flush();
    const [cut, left] = textsOf(log.path);
    expect(cut).toMatch(/^ü{125} \(4875 more characters\)$/);
    expect(left).toMatch(/^An entry of \d+ bytes \(tool_call\) is left out/);
  });

  it('holds what is nested without end', async () => {
    await using log = await tempLog();
    using writer = log.open();
    let input: unknown = 'deep';
    for (let i = 0; i < 5_000; i += 1) input = [input];
    writer.append({ kind: 'tool_call', id: 't', tool: 'x', input });
    writer.flush();
    expect(readFileSync(log.path, 'utf8')).toContain('(nested too deep)');
  });

  it('tells what it could not write as soon as it can write again', async () => {
    await using log = await tempLog();
    using writer = log.open({ limits: { bytes: 4_000 } });
    append('kept'.padEnd(1_800, '.'));
    // A part that cannot be made stands for a disk that is full.
    const part = `${log.path}.${statSync(log.path).size}`;
    mkdirSync(part);
    append('lost'.padEnd(600, '.'));
    append('lost too'.padEnd(600, '.'));
    rmdirSync(part);
    append('again');
    const { lines } = readLog({ path: log.path, offset: 0, limit: 100 });
    expect(lines.map((line) => line.seq)).toEqual([1, 3, 4]);
    expect(lines[1]).toMatchObject({
      kind: 'note',
      text: '2 entries are left out: the log could not be written',
    });
    expect(lines[2]).toMatchObject({ text: 'again' });

    function append(text: string): void {
      writer.append(say(text));
      writer.flush();
    }
  });
});

describe('a log that grows too long', () => {
  async function longLog(entries: number) {
    const log = await tempLog();
    const writer = log.open({ limits: { bytes: 8_000 } });
    for (let i = 1; i <= entries; i += 1) {
      writer.append(say(`entry ${i}`));
      writer.flush();
    }
    return { ...log, writer, bytes: () => sizeOf(log.path) };
  }

  function sizeOf(path: string): number {
    const folder = join(path, '..');
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  }

  it('keeps its beginning and its end, says what is missing, and stays within its room', async () => {
    await using log = await longLog(2_000);
    expect(log.bytes()).toBeLessThanOrEqual(8_000);
    const texts = textsOf(log.path);
    expect(texts[0]).toBe('entry 1');
    expect(texts.at(-1)).toBe('entry 2000');
    const gaps = texts.filter((text) => text.includes('left out'));
    expect(gaps).toHaveLength(1);
    const [, count] = /\((\d+) entries\)/.exec(gaps[0] ?? '') ?? [];
    expect(texts.length - 1 + Number(count)).toBe(2_000);
  });

  it('keeps offsets: who was reading goes on, and is told what went by', async () => {
    await using log = await longLog(30);
    const page = readLog({ path: log.path, offset: 0, limit: 30 });
    expect(page).toMatchObject({ end: true });
    for (let i = 31; i <= 3_000; i += 1) {
      log.writer.append(say(`entry ${i}`));
      log.writer.flush();
    }
    const next = readLog({ path: log.path, offset: page.next_offset, limit: 10_000 });
    expect(next.lines.at(-1)).toMatchObject({ text: 'entry 3000' });
    expect(next.lines.some((line) => line.kind === 'note' && line.text.includes('left out'))).toBe(true);
  });

  it('is opened again with its last number, even where its last part is empty', async () => {
    await using log = await longLog(2_000);
    log.writer.close();
    const page = tailLog({ path: log.path, lines: 1 });
    writeFileSync(`${log.path}.${page.next_offset}`, '{"v":1,');
    using writer = log.open({ limits: { bytes: 8_000 } });
    expect(writer.seq).toBe(2_000);
    writer.append(say('next'));
    writer.flush();
    expect(tailLog({ path: log.path, lines: 2 }).lines.map((line) => line.seq)).toEqual([2_000, 2_001]);
  });
});

describe('readLog', () => {
  it('gives nothing for a log that is not there', async () => {
    await using log = await tempLog();
    expect(readLog({ path: log.path, offset: 0, limit: 5 })).toEqual({
      lines: [],
      next_offset: 0,
      end: true,
    });
    expect(tailLog({ path: log.path, lines: 5 })).toEqual({ lines: [], next_offset: 0, end: true });
  });

  it('pages by lines and by bytes without losing or doubling any', async () => {
    await using log = await tempLog();
    using writer = log.open();
    for (let i = 1; i <= 200; i += 1) writer.append(say(`${i}`.padEnd(i * 3, '.')));
    writer.flush();
    for (const request of [
      { limit: 7 },
      { limit: 1_000, limits: { page_bytes: 500 } },
      { limit: 3, limits: { page_bytes: 10 } },
    ]) {
      const seqs: number[] = [];
      let offset = 0;
      for (let end = false; !end;) {
        const page = readLog({ path: log.path, offset, ...request });
        seqs.push(...page.lines.map((line) => line.seq));
        ({ next_offset: offset, end } = page);
      }
      expect(seqs).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
    }
  });

  it('gives no more lines than a page has, whoever asks', async () => {
    await using log = await tempLog();
    using writer = log.open();
    for (let i = 1; i <= 20; i += 1) writer.append(say(`entry ${i}`));
    writer.flush();
    const limits = { page_lines: 5 };
    expect(readLog({ path: log.path, offset: 0, limit: 1_000, limits })).toMatchObject({ end: false });
    expect(readLog({ path: log.path, offset: 0, limit: 1_000, limits }).lines).toHaveLength(5);
    expect(tailLog({ path: log.path, lines: 1_000, limits }).lines.at(0)?.seq).toBe(16);
  });

  it('leaves a line that is still being written for later', async () => {
    await using log = await tempLog();
    using writer = log.open();
    writer.append(say('one'));
    writer.flush();
    appendFileSync(log.path, '{"v":1,"seq":2,');
    const page = readLog({ path: log.path, offset: 0, limit: 9 });
    expect(page.lines).toHaveLength(1);
    appendFileSync(log.path, '"at":"x","kind":"note","text":"two"}\n');
    expect(textsOf(log.path, page.next_offset)).toEqual(['two']);
  });

  it('names a line that cannot be read and goes on', async () => {
    await using log = await tempLog();
    using writer = log.open();
    writer.append(say('one'));
    writer.flush();
    appendFileSync(log.path, 'garbage\n');
    writer.append(say('two'));
    writer.flush();
    expect(textsOf(log.path)[1]).toMatch(/^The line at byte \d+ of the log cannot be read$/);
  });
});

describe('tailLog', () => {
  it('gives the last lines and where to read on', async () => {
    await using log = await tempLog();
    using writer = log.open();
    for (let i = 1; i <= 50; i += 1) writer.append(say(`entry ${i}`));
    writer.flush();
    const page = tailLog({ path: log.path, lines: 3 });
    expect(page.lines.map((line) => line.seq)).toEqual([48, 49, 50]);
    writer.append(say('entry 51'));
    writer.flush();
    expect(textsOf(log.path, page.next_offset)).toEqual(['entry 51']);
  });

  it('gives all of a short log, and no more bytes than a page has', async () => {
    await using log = await tempLog();
    using writer = log.open();
    for (let i = 1; i <= 50; i += 1) writer.append(say(`${i}`.padEnd(100, '.')));
    writer.flush();
    expect(tailLog({ path: log.path, lines: 500 }).lines).toHaveLength(50);
    const page = tailLog({ path: log.path, lines: 500, limits: { page_bytes: 1_000 } });
    expect(page.lines.length).toBeLessThan(10);
    expect(page.lines.at(-1)?.seq).toBe(50);
  });
});
