import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GIT_PLACES, type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { compareFingerprints, fingerprintCheckout, listChangedFiles } from './checkout-fingerprint.ts';

async function compare(place: GitPlace, change: () => void): Promise<readonly string[]> {
  const before = await fingerprintCheckout(place.repo);
  change();
  return compareFingerprints(before, await fingerprintCheckout(place.repo));
}

describe('fingerprintCheckout', () => {
  it.each(shareOf(GIT_PLACES, 2))(
    'is the same twice, and sees every kind of change, in %s',
    async (shape) => {
      await using place = await gitPlace(shape);
      const write = (file: string, text: string) => writeFileSync(join(place.path, file), text);
      expect(await compare(place, () => undefined)).toEqual([]);
      expect(await compare(place, () => write('new.txt', 'new'))).toEqual(['files']);
      expect(await compare(place, () => write('new.txt', 'other'))).toEqual(['files']);
      expect(await compare(place, () => write('a.txt', 'x\n'))).toEqual(['files']);
      // Dirty before and after, and of the same size: the time tells.
      expect(
        await compare(place, () => (write('a.txt', 'y\n'), utimesSync(join(place.path, 'a.txt'), 1, 1))),
      ).toEqual(['files']);
      expect(await compare(place, () => place.git('add', 'a.txt'))).toEqual(['index', 'files']);
      expect(await compare(place, () => place.git('commit', '--quiet', '-m', 'x'))).toContain('commit');
      expect(await compare(place, () => rmSync(join(place.path, 'new.txt')))).toEqual(['files']);
      expect(await compare(place, () => place.git('checkout', '--quiet', '-b', 'side'))).toContain('head');
      expect(await compare(place, () => utimesSync(join(place.path, 'a.txt'), 2, 2))).toEqual([]);
    },
  );

  it('names what changed, and tells that more did where there are too many', async () => {
    await using place = await gitPlace('sha1');
    const write = (...names: string[]) =>
      names.forEach((name) => writeFileSync(join(place.path, name), name));
    const look = () => fingerprintCheckout(place.repo, { files: 2 });
    write('b.new', 'c.new');
    const before = await look();
    write('c.new');
    utimesSync(join(place.path, 'c.new'), 3, 3);
    expect(listChangedFiles(before, await look())).toEqual(['c.new']);
    write('d.new');
    const more = await look();
    expect(listChangedFiles(before, more)).toEqual(['', 'c.new']);
    write('e.new');
    expect(listChangedFiles(more, await look())).toEqual(['']);
  });
});
