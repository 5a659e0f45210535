import { expect, it } from 'vitest';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { GatheredOutput } from './gathered-output.ts';

it('tells lines that come together as one entry, up to its limit, each stream by itself', async () => {
  const told: TranscriptEntry[] = [];
  const output = new GatheredOutput((entry) => told.push(entry), 10);
  output.add('stdout', 'one');
  output.add('stdout', 'two');
  output.add('stdout', 'three');
  output.add('stderr', 'four');
  output.add('stdout', 'a line beyond the limit');
  expect(told).toHaveLength(3);
  await Promise.resolve();
  output.add('stdout', 'later');
  output.flush();
  output.flush();
  await Promise.resolve();
  expect(told.map((entry) => (entry.kind === 'output' ? [entry.stream, entry.text] : entry))).toEqual([
    ['stdout', 'one\ntwo'],
    ['stdout', 'three'],
    ['stderr', 'four'],
    ['stdout', 'a line beyond the limit'],
    ['stdout', 'later'],
  ]);
});
