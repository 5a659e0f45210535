import { describe, expect, it } from 'vitest';
import { checksum, lineDigest, shortHash } from './checksum.ts';

describe('checksum', () => {
  it('is FNV-1a, as published: the same for good, because lines carry it', () => {
    expect(checksum('')).toBe((0x811c9dc5).toString(36));
    expect(checksum('a')).toBe((0xe40c292c).toString(36));
    expect(checksum('foobar')).toBe((0xbf9cf968).toString(36));
  });

  it('sees code units, so that text outside ASCII and lone surrogates count', () => {
    const texts = ['é', 'e', 'e\u0301', '名', '\ud800', '\udc00', '\ud83d\ude00', '\u0000', ''];
    expect(new Set(texts.map((text) => checksum(text))).size).toBe(texts.length);
  });

  it('tells 20,000 texts that differ in a digit apart, but for the odd pair', () => {
    const sums = new Set(Array.from({ length: 20_000 }, (_, at) => checksum(`{"priority":${at}}`)));
    expect(sums.size).toBeGreaterThanOrEqual(19_998);
  });
});

describe('shortHash', () => {
  it('is six characters of base36', () => {
    for (let at = 0; at < 1_000; at += 1) expect(shortHash(`fg-a3f8\n${at}\nann`)).toMatch(/^[0-9a-z]{6}$/);
    expect(shortHash('')).toMatch(/^[0-9a-z]{6}$/);
  });

  it('uses the whole range, in every place', () => {
    const hashes = Array.from({ length: 3_000 }, (_, at) => shortHash(String(at)));
    for (const place of [0, 1, 2, 3, 4, 5]) expect(new Set(hashes.map((hash) => hash[place])).size).toBe(36);
  });

  it('tells 20,000 moments apart, but for the odd pair', () => {
    const hashes = new Set(
      Array.from({ length: 20_000 }, (_, at) => shortHash(`fg-a3f8\n${1.77e12 + at}\nann`)),
    );
    expect(hashes.size).toBeGreaterThanOrEqual(19_990);
  });
});

describe('lineDigest', () => {
  const line = '{"id":"fg-a3f8","title":"Fix it","status":"open","labels":["é","\ud83d\ude00"]}';

  it('is a number that holds all of its digits', () => {
    for (const text of ['', 'a', line]) {
      expect(Number.isSafeInteger(lineDigest(text))).toBe(true);
      expect(lineDigest(text)).toBeGreaterThanOrEqual(0);
    }
  });

  it('changes with every character of a line', () => {
    const digests = new Set([lineDigest(line)]);
    for (let at = 0; at < line.length; at += 1) {
      digests.add(lineDigest(`${line.slice(0, at)}\u0001${line.slice(at + 1)}`));
      digests.add(lineDigest(`${line.slice(0, at)}\u0001${line.slice(at)}`));
    }
    expect(digests.size).toBe(1 + 2 * line.length);
  });

  it('tells 100,000 lines apart', () => {
    const digests = new Set(
      Array.from({ length: 100_000 }, (_, at) => lineDigest(`{"id":"fg-${at.toString(36)}"}`)),
    );
    expect(digests.size).toBe(100_000);
  });
});
