import { readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inSoak } from '../support/share-of.ts';
import {
  describeProcessFailure,
  makeProcessSequence,
  runProcessSequence,
} from '../support/sync-process-sequence.ts';
import type { ProcessStep } from '../support/sync-process-steps.ts';

/** The long run is in tests/sync-process-sequences.soak.test.ts. */
const SEEDS = [3];
const TIMEOUT_MS = 300_000;

/** A crash that takes the newest write with it. */
const forgetNewest: ProcessStep = async ({ clone }) => {
  const folder = join(clone.path, '.git', 'forge');
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `forge.db${suffix}`), { force: true });
  const lines = readFileSync(join(folder, 'tasks.jsonl'), 'utf8').split('\n');
  truncateSync(join(folder, 'tasks.jsonl'), Buffer.byteLength(lines.slice(0, -2).join('\n')));
  return 'forgotten';
};

const touchUserFile: ProcessStep = async ({ clone, name }) => {
  clone.write(`src/${name}-1.txt`, 'not what the user wrote\n');
  return 'touched';
};

describe('sequences of real programs over three clones', () => {
  it.for([
    ['a write that is gone', 'forget', /^forget lost/],
    ['a file of the user that changed', 'touch', /^touch changed files of the user/],
  ] as const)('find %s', { timeout: TIMEOUT_MS }, async ([, wrong, what]) => {
    const names = ['create', 'commit', wrong];
    const steps = names.map((step) => ({ name: 'ann', do: step, seed: 1 }) as const);
    const { failures } = await runProcessSequence(
      { seed: 0, steps },
      { forget: forgetNewest, touch: touchUserFile },
    );
    expect(failures[0]).toMatch(what);
  });

  inSoak(() => {
    it.for(SEEDS)(
      'lose nothing, leave the files of the user alone and end with equal clones: seed %i',
      { timeout: TIMEOUT_MS },
      async (seed) => {
        const outcome = await runProcessSequence(makeProcessSequence(seed));
        expect(describeProcessFailure(seed, outcome)).toBe('');
      },
    );
  });
});
