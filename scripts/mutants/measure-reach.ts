import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from './nearest-tests.ts';
import { findPointAt, findReachPoints, instrument } from './reach-points.ts';
import { BETWEEN, readCases, runVitest, type TestCase } from './run-cases.ts';

/** Which test cases come to which points of which files. */
export interface Reach {
  readonly cases: readonly TestCase[];
  /** For every file, for every point of it, the places of its cases in the list above. */
  readonly reached: Readonly<Record<string, readonly (readonly number[])[]>>;
}

/**
 * Runs the tests once, with a call in front of every statement of the sources. Only what runs in the process of the
 * test is seen.
 */
export async function measureReach(
  copy: string,
  sources: readonly SourceFile[],
  tests: readonly string[],
): Promise<Reach> {
  const notes = join(copy, '.reach');
  mkdirSync(notes);
  for (const [file, { path, text }] of sources.entries()) {
    const call = (point: number): string => `(globalThis as any).forgeReach?.('${file}:${point}')`;
    writeFileSync(join(copy, path), `${recorder(notes)}${instrument(text, call)}`);
  }
  const report = join(copy, '.report.json');
  try {
    await runVitest({ copy, tests, report, timeout_ms: 3_600_000 });
  } finally {
    for (const { path, text } of sources) writeFileSync(join(copy, path), text);
  }
  const cases = readCases(copy, report).filter(({ passed }) => passed);
  const reach = { cases, reached: readNotes({ notes, copy, sources, cases }) };
  rmSync(notes, { recursive: true });
  return reach;
}

/** What was measured before, of the test files that are still the same, and what was measured now. */
export function joinReach(before: Reach, now: Reach, unchanged: readonly string[]): Reach {
  const same = new Set(unchanged);
  const moved = new Map<number, number>();
  const cases: TestCase[] = [];
  for (const [at, one] of before.cases.entries()) if (same.has(one.path)) moved.set(at, cases.push(one) - 1);
  const first = cases.length;
  const join = (path: string): readonly (readonly number[])[] => {
    const [old = [], fresh = []] = [before.reached[path], now.reached[path]];
    return Array.from({ length: Math.max(old.length, fresh.length) }, (_, point) => [
      ...(old[point] ?? []).flatMap((at) => moved.get(at) ?? []),
      ...(fresh[point] ?? []).map((at) => first + at),
    ]);
  };
  const paths = new Set([...Object.keys(before.reached), ...Object.keys(now.reached)]);
  return {
    cases: [...cases, ...now.cases],
    reached: Object.fromEntries([...paths].map((path) => [path, join(path)])),
  };
}

/** The cases that come to a place of a file, the quick ones first. */
export function listReaching(reach: Reach, { path, text }: SourceFile, place: number): readonly TestCase[] {
  const points = reach.reached[path] ?? [];
  const point = findPointAt(findReachPoints(text), place);
  // What runs when the file is loaded matters to all that come to any part of it.
  const places = new Set(point === undefined ? points.flat() : points[point]);
  return [...places]
    .map((at) => reach.cases[at])
    .filter((one) => one !== undefined)
    .toSorted((a, b) => a.took_ms - b.took_ms);
}

/** In one line in front of the file: notes each point once for each case, in a file for each process. */
function recorder(notes: string): string {
  return `(globalThis as any).forgeReach ??= ((fs: any, seen: Set<string>, last: any) => (key: string) => {
    const now = (globalThis as any).__vitest_worker__?.current;
    if (now?.type !== 'test') return;
    const file = ${JSON.stringify(notes)} + '/' + process.pid;
    if (now !== last) {
      last = now;
      seen.clear();
      const names = [];
      for (let one = now; one !== undefined && one.filepath === undefined; one = one.suite) names.unshift(one.name);
      fs.appendFileSync(file, JSON.stringify([now.file.filepath, names.join('${BETWEEN}')]) + '\\n');
    }
    if (seen.has(key)) return;
    seen.add(key);
    fs.appendFileSync(file, key + '\\n');
  })(process.getBuiltinModule('node:fs'), new Set<string>(), undefined); `.replaceAll(/\n\s*/g, ' ');
}

function readNotes(from: {
  readonly notes: string;
  readonly copy: string;
  readonly sources: readonly SourceFile[];
  readonly cases: readonly TestCase[];
}): Reach['reached'] {
  const found = from.sources.map(({ text }) => findReachPoints(text).map(() => new Set<number>()));
  const known = new Map(from.cases.map(({ path, name }, at) => [`${path}\n${name}`, at]));
  for (const note of readdirSync(from.notes)) {
    let current: number | undefined;
    for (const line of readFileSync(join(from.notes, note), 'utf8').split('\n')) {
      if (line.startsWith('[')) {
        const [file, name] = JSON.parse(line) as [string, string];
        current = known.get(`${file.replace(`${from.copy}/`, '')}\n${name}`);
      } else if (line !== '' && current !== undefined) {
        const [source, point] = line.split(':').map(Number);
        found[source ?? -1]?.[point ?? -1]?.add(current);
      }
    }
  }
  return Object.fromEntries(
    from.sources.map(({ path }, at) => [path, (found[at] ?? []).map((places) => [...places])]),
  );
}
