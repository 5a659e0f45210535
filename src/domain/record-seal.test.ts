import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { makeTriple } from '../../tests/support/graph-triples.ts';
import { FORGE } from '../../tests/support/join-world.ts';
import { seededRandom } from '../../tests/support/random.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { isSealed, seal } from './record-seal.ts';
import { claimRecord } from './task-changes.ts';

const LONG = { timeout: 60_000 };
const FIXTURE = readFileSync(join(import.meta.dirname, 'record-codec.fixture.jsonl'), 'utf8')
  .trim()
  .split('\n');

describe('a sealed line', () => {
  it('shows every edit of a single character, at every place', LONG, () => {
    const random = seededRandom(1);
    let edits = 0;
    for (const line of sealedLines(50)) {
      expect(isSealed(line)).toBe(true);
      for (let at = 0; at < line.length; at += 1) {
        const other = String.fromCharCode(line.charCodeAt(at) ^ (1 + random.below(31)));
        for (const edited of [
          `${line.slice(0, at)}${line.slice(at + 1)}`,
          `${line.slice(0, at)}${other}${line.slice(at + 1)}`,
          `${line.slice(0, at)}${other}${line.slice(at)}`,
        ]) {
          edits += 1;
          if (edited !== line && isSealed(edited)) throw new Error(`Not seen at ${at}: ${edited}`);
        }
      }
    }
    expect(edits).toBeGreaterThan(50_000);
  });

  it('shows two characters that changed places, a doubled part and a part of another line', LONG, () => {
    const lines = sealedLines(50);
    lines.forEach((line, number) => {
      const other = lines[(number + 1) % lines.length] ?? '';
      for (let at = 1; at < line.length; at += 1) {
        const swapped = `${line.slice(0, at - 1)}${line[at]}${line[at - 1]}${line.slice(at + 1)}`;
        if (swapped !== line && isSealed(swapped)) throw new Error(`Not seen at ${at}: ${swapped}`);
      }
      expect(isSealed(line.replace('"labels":[', '"labels":["x",'))).toBe(false);
      const stolen = line.replace(/"_v":"[0-9a-z]+"}}$/, other.slice(other.lastIndexOf('"_v":"')));
      expect(isSealed(stolen)).toBe(stolen === line);
    });
  });

  it('is every line with stamps that Forge writes, and reading it changes nothing', () => {
    for (const line of sealedLines(50))
      expect(encodeRecord(decodeRecord(JSON.parse(line) as Json))).toBe(line);
  });

  it('is also one whose stamps are empty', () => {
    const line = seal('{"id":"fg-a3f8"', '{}');
    expect(JSON.parse(line)).toMatchObject({
      id: 'fg-a3f8',
      _v: { _v: expect.stringMatching(/^[0-9a-z]+$/) as string },
    });
    expect(isSealed(line)).toBe(true);
  });
});

describe('a line that is not sealed', () => {
  it.each(FIXTURE)("is the seed's: %.30s", (line) => {
    expect(isSealed(line)).toBe(false);
    const claimed = encodeRecord(claimRecord(decodeRecord(JSON.parse(line) as Json), 'zoe', Date.UTC(2027)));
    expect(isSealed(claimed)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['a line that ends early', '"}}'],
    ['a seal that stands elsewhere', `{"x":"y","_v":{"":"a"}}`],
    ['the seal of another tool', `{"id":"fg-a3f8","_v":{"_v":"zzzzzz"}}`],
    ['a sealed line with a carriage return', `${seal('{"id":"x"', '{"":"a"}')}\r`],
    ['a sealed line with other spaces', seal('{"id":"x"', '{"":"a"}').replace('{"id"', '{ "id"')],
  ])('is %s', (_name, line) => {
    expect(isSealed(line)).toBe(false);
  });
});

/** Of real histories; the first of each file that has stamps. */
function sealedLines(count: number): string[] {
  const found: string[] = [];
  for (let seed = 0; found.length < count; seed += 1) {
    const lines = makeTriple(seed, FORGE).files[0].split('\n');
    const line = lines.find((one) => one.includes('"_v":{'));
    if (line !== undefined) found.push(line);
  }
  return found;
}
