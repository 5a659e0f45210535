import { type Growing, growTo, listWorstTexts } from './worst-texts.ts';

/** The most that twice the text may cost. */
const MOST = 2.5;
/** Less is not told from the noise of the machine. */
const NOISE_US = 600;
/** A text so short that takes milliseconds is steep; from the second length on lengths are doubled without a look. */
const SHORT = 64;
const LONG = 512;
const TRIES = 3;
/** What is steep once and not again was the machine. */
const ROUNDS = 5;

export interface Growth {
  readonly text: Growing;
  readonly from: number;
  /** What each doubling multiplied the work by. */
  readonly ratios: readonly number[];
}

/**
 * The first text of those that are likely to be the worst which costs more than its length says. The least of several tries
 * counts, and what looks wrong is measured again before it is believed.
 */
export function findSteep(
  { source, flags }: { readonly source: string; readonly flags: string },
  { most }: { readonly most: number },
): Growth | undefined {
  const pattern = new RegExp(source, flags);
  // A nanosecond a character is what V8 takes; some times that is left to it.
  let rate_us = 0.008;
  for (const text of listWorstTexts(source, flags)) {
    const suspect = findSuspect(pattern, text, { most, rate_us });
    if (suspect === undefined) continue;
    const growth = measureGrowth((one) => apply(pattern, one), text, suspect.from);
    if (growth !== undefined) return growth;
    // Slow, but in a straight line: others of its texts are as slow, and not worth a measurement each.
    if (suspect.from >= LONG) rate_us = Math.max(rate_us, suspect.rate_us * 1.5);
  }
  return undefined;
}

/** The growth of anything that reads a text, undefined where it is linear. */
export function measureGrowth(work: (text: string) => void, text: Growing, from: number): Growth | undefined {
  if (from < LONG && isExplosive(work, text, from)) return { text, from, ratios: [Infinity] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const ratios = readRatios(work, text, from);
    if (!isSteep(ratios)) return undefined;
    if (round === ROUNDS - 1) return { text, from, ratios };
  }
  return undefined;
}

/** A little more of what is exponential takes many times as long, and twice of it would never end. */
function isExplosive(work: (text: string) => void, text: Growing, from: number): boolean {
  // Nothing that is linear takes milliseconds for so little.
  if (from <= SHORT) return true;
  const [first, second] = [from, from * 1.25].map((size) => {
    const long = growTo(text, size);
    return measure(() => work(long), TRIES);
  });
  return (second ?? 0) / (first ?? 1) > 6;
}

const LARGEST = 1 << 22;
const DOUBLINGS = 3;
const LONGEST_US = 20_000;

function readRatios(work: (text: string) => void, text: Growing, from: number): number[] {
  const ratios: number[] = [];
  let before: number | undefined;
  for (let size = from; size <= LARGEST && ratios.length < DOUBLINGS; size *= 2) {
    const long = growTo(text, size);
    const took = measure(() => work(long), TRIES);
    if (before !== undefined && before > NOISE_US) ratios.push(took / before);
    before = took;
    if (took > LONGEST_US && ratios.length >= 2) break;
  }
  return ratios;
}

/** Two doublings in a row: one alone is where a cache ends, or where the collector comes. */
function isSteep(ratios: readonly number[]): boolean {
  return ratios.some((one, at) => one > MOST && (ratios[at + 1] ?? 0) > MOST);
}

/** Where a text takes longer than one that is read once could, and how long a character of it; undefined where none does. */
function findSuspect(
  pattern: RegExp,
  text: Growing,
  { most, rate_us }: { readonly most: number; readonly rate_us: number },
): { readonly from: number; readonly rate_us: number } | undefined {
  for (let size = 8; size <= most; size = toNext(size)) {
    const long = growTo(text, size);
    const allowed = Math.max(size <= SHORT ? 5_000 : 100, size * rate_us);
    const began = performance.now();
    apply(pattern, long);
    if ((performance.now() - began) * 1_000 <= allowed) continue;
    const took = measure(() => apply(pattern, long), TRIES);
    if (took > allowed) return { from: size < LONG ? size : size / 4, rate_us: took / size };
  }
  return undefined;
}

/** In small steps at first: of what is exponential twice the length would never end. */
function toNext(size: number): number {
  if (size < SHORT) return size + 2;
  if (size >= LONG) return size * 4;
  return size * 1.25 < LONG ? Math.ceil(size * 1.25) : 2 * LONG;
}

function apply(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) text.replace(pattern, '');
  else pattern.test(text);
}

/**
 * Microseconds, the least of several. Of what takes longer than the kernel's tick the time of this thread on a
 * processor counts: by the clock alone a busy machine would make long work look steeper than short work.
 */
function measure(work: () => void, tries: number): number {
  let least = Infinity;
  for (let at = 0; at < tries; at += 1) {
    const usage = process.threadCpuUsage();
    const began = performance.now();
    work();
    const wall = (performance.now() - began) * 1_000;
    const { user, system } = process.threadCpuUsage(usage);
    least = Math.min(least, wall < TICKS_US ? wall : Math.max(user + system, TICKS_US / 2));
  }
  return least;
}

const TICKS_US = 40_000;
