import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { readCommit } from '../read-commit.ts';
import type { FileResult, ScoreResults } from './judge-item.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Writes how the tests of each file ended into a file of results; files that were not run keep what they had there. */
export class ScoreReporter implements Reporter {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const results: Record<string, FileResult> = { ...readResults(this.#path) };
    const run = { at: new Date().toISOString(), commit: readCommit() };
    for (const module of modules) results[relative(ROOT, module.moduleId)] = { ...run, ...toResult(module) };
    const sorted = Object.fromEntries(
      Object.entries(results).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
    writeFileSync(this.#path, `${JSON.stringify(sorted, undefined, 2)}\n`);
  }
}

export function readResults(path: string): ScoreResults {
  // Written by the function above.
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ScoreResults) : {};
}

function toResult(module: TestModule): Pick<FileResult, 'failed' | 'tests'> {
  const tests = [...module.children.allTests()].map((test) => ({
    title: test.fullName,
    state: test.result().state,
    notes: test.annotations().map(({ message }) => message),
  }));
  const failed = tests.filter(({ state }) => state === 'failed').length;
  return { failed: module.ok() ? failed : Math.max(1, failed), tests };
}
