import type { FileResult } from './judge-item.ts';

/** What the advisories are asked about. */
export const LOCKFILE = 'package-lock.json';

/**
 * The answer of `npm audit --json` as results: one test, which fails where there is a high or critical advisory.
 * Undefined where the registry did not answer, or answered something else: that is no result, and never a pass.
 */
export function readAdvisories(answer: string, at: string): FileResult | undefined {
  const counts = findCounts(answer);
  if (counts === undefined) return undefined;
  const [high, critical] = counts;
  const isClean = high + critical === 0;
  const notes = [`${high} high, ${critical} critical`];
  const test = { title: 'advisories', state: isClean ? 'passed' : 'failed', notes };
  return { at, commit: '', failed: isClean ? 0 : 1, tests: [test] };
}

function findCounts(answer: string): readonly [number, number] | undefined {
  const { vulnerabilities } = (parse(answer) as Audit | undefined)?.metadata ?? {};
  const { high, critical } = vulnerabilities ?? {};
  return typeof high === 'number' && typeof critical === 'number' ? [high, critical] : undefined;
}

/** Of what npm answers, what is looked at; every part may be missing. */
interface Audit {
  readonly metadata?: { readonly vulnerabilities?: { readonly high?: unknown; readonly critical?: unknown } };
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
