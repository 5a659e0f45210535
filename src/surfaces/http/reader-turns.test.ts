import { describe, expect, it } from 'vitest';
import { ReaderTurns } from './reader-turns.ts';

interface Named {
  readonly name: string;
  readonly caller: { readonly token: string };
}

const toReader = (name: string): Named => ({ name, caller: { token: name.charAt(0) } });

function takeAll(turns: ReaderTurns<Named>): string[] {
  const names: string[] = [];
  for (let next = turns.take(); next !== undefined; next = turns.take()) names.push(next.name);
  return names;
}

describe('the turns of readers', () => {
  it('go around the tokens, then around the readers of a token', () => {
    const turns = new ReaderTurns<Named>();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) turns.add(toReader(name));
    expect(takeAll(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(turns.take()).toBeUndefined();
  });

  it('serve one that comes back after the others of its token, and every second time beside one other', () => {
    const turns = new ReaderTurns<Named>();
    for (const name of ['a1', 'a2', 'a3', 'b1']) turns.add(toReader(name));
    const names: string[] = [];
    for (let at = 0; at < 8; at += 1) {
      const next = turns.take();
      if (next === undefined) break;
      names.push(next.name);
      turns.add(next);
    }
    expect(names).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'b1']);
  });

  it('forget readers that went, and hold none twice', () => {
    const turns = new ReaderTurns<Named>();
    const [one, two] = [toReader('a1'), toReader('b1')];
    for (const reader of [one, two, one]) turns.add(reader);
    turns.delete(two);
    turns.delete(two);
    expect(takeAll(turns)).toEqual(['a1']);
  });
});
