import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { GIVEN_DAYS, GIVEN_VALUES, listGivenValues, noteGivenValues } from './given-values.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const DAY_MS = 86_400_000;
const agents = new Set(['ada']);

describe('[S17] what runs were given', () => {
  it('is kept for each agent, in a file of the owner alone', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    await noteGivenValues(home, { agent: 'ada', env: { A: 'first-value', B: 'short' }, now: NOW });
    await noteGivenValues(home, { agent: 'bob', env: { A: 'value-of-bob' }, now: NOW });
    await noteGivenValues(home, { agent: 'ada', env: { A: 'other-value' }, now: NOW });
    expect(listGivenValues(home, { agents, now: NOW })).toEqual(['first-value', 'other-value']);
    expect(statSync(join(home, 'given-values.jsonl')).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('writes nothing for a run that was given nothing, or the same on the same day', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    await noteGivenValues(home, { agent: 'ada', env: { A: 'short' }, now: NOW });
    expect(statSync(home, { throwIfNoEntry: false })).toBeUndefined();
    await noteGivenValues(home, { agent: 'ada', env: { A: 'first-value' }, now: NOW });
    const file = join(home, 'given-values.jsonl');
    const before = readFileSync(file, 'utf8');
    await noteGivenValues(home, { agent: 'ada', env: { A: 'first-value' }, now: NOW + 1_000 });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('is forgotten a while after it was last given', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const last = GIVEN_DAYS * DAY_MS;
    const give = (value: string, now: number) =>
      noteGivenValues(home, { agent: 'ada', env: { A: value }, now });
    await give('given-once', NOW);
    await give('given-again', NOW);
    await give('given-again', NOW + 2 * DAY_MS);
    expect(listGivenValues(home, { agents, now: NOW + last - 1 })).toEqual(['given-once', 'given-again']);
    expect(listGivenValues(home, { agents, now: NOW + last })).toEqual(['given-again']);
    await give('given-later', NOW + last);
    expect(readFileSync(join(home, 'given-values.jsonl'), 'utf8')).not.toContain('given-once');
  });

  it('is bounded in number, and the oldest goes first', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const lines = Array.from({ length: GIVEN_VALUES }, (_, at) =>
      JSON.stringify({ agent: 'ada', value: `value-number-${at}`, given_at: new Date(NOW).toISOString() }),
    );
    writeFileSync(join(home, 'given-values.jsonl'), `${lines.join('\n')}\nno json\n`);
    await noteGivenValues(home, { agent: 'ada', env: { A: 'the-last-value' }, now: NOW });
    const kept = listGivenValues(home, { agents, now: NOW });
    expect(kept).toHaveLength(GIVEN_VALUES);
    expect([kept[0], kept.at(-1)]).toEqual(['value-number-1', 'the-last-value']);
  });
});
