import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { createTeller } from './tell-entries.ts';

const note = (text: string): TranscriptEntry => ({ kind: 'note', text });

describe('a teller', () => {
  it('[H2] throws nothing, says why an entry could not be told, and goes on with the next', async () => {
    const told: TranscriptEntry[] = [];
    const teller = createTeller((entry) => {
      if (entry.kind === 'note' && entry.text === 'boom') throw new RangeError('cannot read boom');
      told.push(entry);
    });
    teller.tell(note('one'));
    expect(teller.fault()).toBeUndefined();
    teller.tell(note('boom'));
    teller.tell(note('three'));
    await teller.broken;
    expect(told).toEqual([note('one'), note('three')]);
    expect(teller.fault()).toContain('(RangeError)');
    expect(teller.fault()).not.toContain('boom');
  });
});
