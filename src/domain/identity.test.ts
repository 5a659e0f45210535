import { describe, expect, it } from 'vitest';
import { birthOf, identityOf, isSameTask } from './identity.ts';

const ANN = { id: 'fg-a3f8', created: 1_770_714_000_000, created_by: 'ann' };
const BOB = { ...ANN, created_by: 'bob' };

describe('identityOf', () => {
  it('is birth id, moment and maker', () => {
    expect(identityOf(ANN).key).toBe(identityOf({ ...ANN }).key);
    for (const other of [BOB, { ...ANN, created: ANN.created + 1 }, { ...ANN, id: 'fg-a3f9' }]) {
      expect(identityOf(other).key).not.toBe(identityOf(ANN).key);
      expect(identityOf(other).apart).not.toBe(identityOf(ANN).apart);
      expect(isSameTask(other, ANN)).toBe(false);
    }
  });

  it('tells apart by six characters of a hash, the same for good', () => {
    // A change of these renames tasks in every repository where two were told apart.
    expect([identityOf(ANN).apart, identityOf(BOB).apart]).toEqual(['fg-a3f8u728um', 'fg-a3f87tsyua']);
  });

  it('is the same under the long name', () => {
    for (const id of ['fg-a3f8', 'fg-0123456789', 'legacy1', 'x', 'ab-1.2']) {
      const bare = { ...ANN, id };
      const long = { ...bare, id: identityOf(bare).apart };
      expect(identityOf(long)).toEqual(identityOf(bare));
      expect(birthOf(long)).toBe(id);
      expect(isSameTask(long, bare)).toBe(true);
    }
  });

  it('gives 20,000 tasks of one id 20,000 names, but for the odd pair', () => {
    const names = new Set<string>();
    for (let at = 0; at < 20_000; at += 1) names.add(identityOf({ ...ANN, created: ANN.created + at }).apart);
    expect(names.size).toBeGreaterThanOrEqual(19_998);
  });
});

describe('birthOf', () => {
  it('is the id itself where it does not end with the hash of this very task', () => {
    const long = identityOf(ANN).apart;
    expect(birthOf({ ...BOB, id: long })).toBe(long);
    expect(birthOf({ ...ANN, id: `${long.slice(0, -1)}-` })).toBe(`${long.slice(0, -1)}-`);
    expect(birthOf({ ...ANN, id: 'fg-0123456789' })).toBe('fg-0123456789');
  });

  it('leaves ids alone that are too short to carry a hash', () => {
    for (const id of ['fg-a', 'fg-a3f8', 'fg-a3f8ab', 'a']) expect(birthOf({ ...ANN, id })).toBe(id);
  });
});
