import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { Random } from './random.ts';

const PAGE = 4096;

/** How a database file can be hurt from outside; each gives a word on what it did. */
export const DAMAGES: readonly ((path: string, random: Random) => string)[] = [
  function flipHeader(path, random) {
    const at = random.below(100);
    change(path, at, 1, (byte) => byte ^ (1 << random.below(8)));
    return `a bit of byte ${at}`;
  },
  function flipPageHead(path, random) {
    const page = random.below(pagesOf(path));
    const from = page * PAGE + (page === 0 ? 100 : 0);
    change(path, from, 16, (byte) => byte ^ 0xff);
    return `the head of page ${page}`;
  },
  function zeroPage(path, random) {
    const page = random.below(pagesOf(path));
    change(path, page * PAGE, PAGE, () => 0);
    return `zeroes in page ${page}`;
  },
  function scramblePage(path, random) {
    const page = random.below(pagesOf(path));
    change(path, page * PAGE, PAGE, () => random.below(256));
    return `noise in page ${page}`;
  },
  function cut(path, random) {
    const size = random.below(readFileSync(path).length);
    truncateSync(path, size);
    return `cut to ${size} bytes`;
  },
  function cutPages(path, random) {
    const pages = random.below(pagesOf(path));
    truncateSync(path, pages * PAGE);
    return `cut to ${pages} pages`;
  },
  function swapPages(path, random) {
    const bytes = readFileSync(path);
    const [a, b] = [1 + random.below(pagesOf(path) - 1), 1 + random.below(pagesOf(path) - 1)];
    const kept = Buffer.from(bytes.subarray(a * PAGE, (a + 1) * PAGE));
    bytes.copyWithin(a * PAGE, b * PAGE, (b + 1) * PAGE);
    kept.copy(bytes, b * PAGE);
    writeFileSync(path, bytes);
    return `pages ${a} and ${b} changed places`;
  },
  function foreignFile(path, random) {
    const words = ['A text.\n', '{"not":"a database"}\n', '\u007fELF', 'PK\u0003\u0004'];
    writeFileSync(path, random.pick(words).repeat(1 + random.below(2_000)));
    return 'a file of another kind';
  },
  function foreignLog(path, random) {
    writeFileSync(`${path}-wal`, Buffer.from(Array.from({ length: 5_000 }, () => random.below(256))));
    return 'a log that is none';
  },
  function missing(path) {
    rmSync(path);
    return 'no file at all';
  },
];

function change(path: string, from: number, count: number, work: (byte: number) => number): void {
  const bytes = readFileSync(path);
  for (let at = from; at < from + count; at += 1) bytes[at] = work(bytes[at] ?? 0);
  writeFileSync(path, bytes);
}

function pagesOf(path: string): number {
  return Math.floor(readFileSync(path).length / PAGE);
}
