/** What the reporter writes, by the path of a test file. */
export type ScoreResults = Readonly<Record<string, FileResult>>;

export interface FileResult {
  readonly at: string;
  readonly commit: string;
  /** Tests that failed, or the file itself. */
  readonly failed: number;
  readonly tests: readonly {
    readonly title: string;
    readonly state: string;
    readonly notes: readonly string[];
  }[];
}

/** Tests of one file that count for a part. */
export interface Measure {
  readonly project: 'unit' | 'git' | 'e2e' | 'soak' | 'bench' | 'audit';
  readonly file: string;
  /** Only those; all of the file where it is left out. */
  readonly match?: RegExp;
  /** Cases in each of these tests; 1 where it is left out. */
  readonly each?: number;
  /** Instead: the sum of the numbers that these tests note. */
  readonly noted?: RegExp;
  /** And of these: how many are no larger than this. */
  readonly at_most?: number;
}

export interface Part {
  readonly what: string;
  /** Cases that the checklist asks for. */
  readonly target: number;
  readonly measures: readonly Measure[];
  /** Why there is no measurement in this repository; with measures: why they gave no result. */
  readonly missing?: string;
  /** What it would measure is not built yet. */
  readonly later?: true;
  /** A violation is one: being near the target earns no half of the points. */
  readonly no_half?: true;
}

export interface Item {
  readonly number: number;
  readonly gate: boolean;
  readonly name: string;
  readonly points: number;
  readonly parts: readonly Part[];
}

export type PartState = 'passed' | 'below' | 'failed' | 'not measured' | 'not there yet';

export interface JudgedPart extends Part {
  readonly state: PartState;
  readonly figure: number;
  readonly when: string;
}

export interface JudgedItem extends Omit<Item, 'parts'> {
  readonly state: PartState;
  readonly earned: number;
  readonly parts: readonly JudgedPart[];
}

const HALF_FROM = 0.8;
/** With a gate that is not passed. */
const CAP = 49;
const WORST: readonly PartState[] = ['failed', 'below', 'not there yet', 'not measured', 'passed'];

/** A part without a result is never passed, and an item is what its worst part is. */
export function judgeItem(item: Item, results: ScoreResults): JudgedItem {
  const parts = item.parts.map((part) => judgePart(part, results));
  const state = WORST.find((one) => parts.some((part) => part.state === one)) ?? 'not measured';
  const isNear = parts.every((part) => part.state === 'passed' || earnsHalf(part));
  const earned = state === 'passed' ? item.points : isNear && parts.length > 0 ? item.points / 2 : 0;
  return { ...item, state, earned, parts };
}

function earnsHalf({ state, figure, target, no_half }: JudgedPart): boolean {
  return state === 'below' && no_half !== true && figure >= target * HALF_FROM;
}

function judgePart(part: Part, results: ScoreResults): JudgedPart {
  const { measures, later, target } = part;
  const found = measures.flatMap((measure) => {
    const result = results[measure.file];
    return result === undefined ? [] : [{ measure, result }];
  });
  const when = [...new Set(found.map(({ result }) => `${result.at.slice(0, 10)}, ${result.commit}`))].join(
    '; ',
  );
  const figure = found.reduce((sum, { measure, result }) => sum + count(measure, result), 0);
  const judged = { ...part, figure, when };
  if (found.some(({ measure, result }) => hasFailed(measure, result))) return { ...judged, state: 'failed' };
  if (later === true) return { ...judged, state: 'not there yet' };
  const isMeasured = found.some(({ measure, result }) => listFigures(measure, result).length > 0);
  if (found.length < measures.length || !isMeasured) return { ...judged, state: 'not measured' };
  return { ...judged, state: figure >= target ? 'passed' : 'below' };
}

function hasFailed({ match }: Measure, { failed, tests }: FileResult): boolean {
  if (failed === 0) return false;
  const own = tests.filter(({ title }) => match?.test(title) ?? true);
  // A file that does not load has no tests.
  return tests.length === 0 || own.some(({ state }) => state === 'failed');
}

function count(measure: Measure, result: FileResult): number {
  const figures = listFigures(measure, result);
  const { at_most } = measure;
  if (at_most !== undefined) return figures.filter((one) => one <= at_most).length;
  return figures.reduce((sum, one) => sum + one, 0);
}

/** One for each test, or note of a test, that measured something: a 0 among them was measured, an empty list was not. */
function listFigures({ match, each = 1, noted }: Measure, { tests }: FileResult): number[] {
  const passed = tests.filter(({ title, state }) => state === 'passed' && (match?.test(title) ?? true));
  if (noted === undefined) return passed.map(() => each);
  const found = passed.flatMap(({ notes }) => notes.map((note) => noted.exec(note)?.[1]));
  return found.filter((one) => one !== undefined).map(Number);
}

export interface Score {
  readonly earned: number;
  readonly points: number;
  /** With the cap for gates that are not passed. */
  readonly score: number;
  /** Gates that a measurement has failed, or that are below their figure. */
  readonly broken: readonly JudgedItem[];
  /** Gates that have not been measured as they are written. */
  readonly open: readonly JudgedItem[];
}

export function sumUp(items: readonly JudgedItem[]): Score {
  const gates = items.filter(({ gate, state }) => gate && state !== 'passed');
  const earned = items.reduce((sum, item) => sum + item.earned, 0);
  const points = items.reduce((sum, item) => sum + item.points, 0);
  return {
    earned,
    points,
    score: gates.length > 0 ? Math.min(earned, CAP) : earned,
    broken: gates.filter(({ state }) => state === 'failed'),
    open: gates.filter(({ state }) => state !== 'failed'),
  };
}
