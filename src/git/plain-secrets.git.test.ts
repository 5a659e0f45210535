import { appendFileSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttemptPlace,
  checkObjects,
  gitIn,
  openAttempts,
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { writeFakeCrypt } from '../../tests/support/fake-crypt.ts';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import type { Checkout } from './checkout-record.ts';
import { readSecretBlobs } from './plain-secrets.ts';
import { removeCheckout, rescueCheckout } from './rescue-checkout.ts';

const SECRET = 'the password is hunter2, and the other one is correct horse\n';
const MORE = 'one more password: hunter2 hunter2 hunter2\n';
const MARK = 'FAKECRYPT';

let place: GitPlace;
let world: AttemptPlace;

beforeEach(async () => {
  place = await gitPlace();
  const program = writeFakeCrypt(join(place.path, '..', 'bin'));
  writeFileSync(join(place.path, '.git', 'fake-crypt-key'), 'key');
  place.git('config', 'filter.git-crypt.clean', `"${program}" clean`);
  place.git('config', 'filter.git-crypt.smudge', `"${program}" smudge`);
  place.git('config', 'filter.upper.clean', 'tr a-z A-Z');
  await place.write('.gitattributes', 's/** filter=git-crypt\n*.up filter=upper\n');
  await place.write('s/k', SECRET);
  await place.write('readme', 'Everybody may read this, and it is long enough to count.\n');
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'secrets');
  world = await openAttempts(place);
});
afterEach(() => place[Symbol.asyncDispose]());

function expectNoPlainText(): void {
  const lines = place.git('cat-file', '--batch-all-objects', '--batch-check').split('\n');
  const blobs = lines.filter((line) => line.includes(' blob ')).map((line) => line.split(' ')[0] ?? '');
  expect(blobs.map((oid) => place.git('cat-file', 'blob', oid)).join('\n')).not.toMatch(/hunter2/i);
  expect(checkObjects(place)).toBe('');
}

const inside = (checkout: Checkout, file: string): string => join(checkout.path, file);
const copy = (checkout: Checkout, from: string, to: string): void =>
  copyFileSync(inside(checkout, from), inside(checkout, to));
const commitAll = (checkout: Checkout, message = 'by the agent'): void => {
  gitIn(checkout, 'add', '-A');
  gitIn(checkout, 'commit', '--quiet', '-m', message);
};

/** What an agent may do; `copy.txt` shows the secret to everybody then. */
const LEAKS: Readonly<Record<string, (checkout: Checkout) => void>> = {
  'a copy of a secret that it has changed': (checkout) => {
    appendFileSync(inside(checkout, 's/k'), MORE);
    copy(checkout, 's/k', 'copy.txt');
  },
  'a copy of a secret that it has written': (checkout) => {
    writeIn(checkout, 's/new', MORE);
    copy(checkout, 's/new', 'copy.txt');
  },
  'a secret inside of another file': (checkout) =>
    writeIn(checkout, 'copy.txt', `config:\n${readFileSync(inside(checkout, 's/k'), 'utf8')}end\n`),
  'a secret without its last line end': (checkout) => writeIn(checkout, 'copy.txt', SECRET.trimEnd()),
  'a secret of its own attributes': (checkout) => {
    appendFileSync(inside(checkout, '.gitattributes'), '*.key filter=git-crypt\n');
    writeIn(checkout, 'new.key', MORE);
    copy(checkout, 'new.key', 'copy.txt');
  },
};
const CASES = Object.entries(LEAKS).map(([what, leak]) => ({ what, leak }));

describe('plain text of secrets', () => {
  it.each(shareOf(CASES, 3))('[B3] is refused before anything is stored: $what', async ({ leak }) => {
    const checkout = await world.start();
    leak(checkout);
    await expect(world.harvest(checkout)).rejects.toThrow(
      new RegExp(`^copy.txt holds in plain text what .+ holds under filter=git-crypt: nothing was committed`),
    );
    expectNoPlainText();
  });

  it.each(shareOf(CASES, 3))('[B3] is refused where the agent commits by itself: $what', async ({ leak }) => {
    const checkout = await world.start();
    leak(checkout);
    commitAll(checkout);
    await expect(world.harvest(checkout)).rejects.toThrow(`copy.txt holds in plain text`);
    // Without the copy its files come, and its commit does not.
    rmSync(inside(checkout, 'copy.txt'));
    writeIn(checkout, 'fine.txt', 'fine\n');
    const harvest = await world.harvest(checkout);
    expect(harvest.flattened).toContain(`holds in copy.txt the plain text of`);
    expect(harvest.files).toContain('fine.txt');
    expectNoPlainText();
  });

  it.each(shareOf(CASES, 3))('[B3] is encrypted in a rescue: $what', async ({ leak }) => {
    const checkout = await world.start();
    leak(checkout);
    const rescue = await rescueCheckout(world.control, checkout);
    expect(place.git('cat-file', 'blob', `${rescue?.commit}:copy.txt`)).toContain(MARK);
    expectNoPlainText();
  });

  it('[B3] is found where the secret is only in a commit between, or not committed as yet', async () => {
    const checkout = await world.start();
    writeIn(checkout, 's/new', MORE);
    commitAll(checkout);
    copy(checkout, 's/new', 'copy.txt');
    rmSync(inside(checkout, 's/new'));
    commitAll(checkout, 'moved out');
    await expect(world.harvest(checkout)).rejects.toThrow('copy.txt holds in plain text what s/new holds');
    const other = await world.start();
    writeIn(other, 'copy.txt', MORE);
    commitAll(other);
    copy(other, 'copy.txt', 's/new');
    await expect(world.harvest(other)).rejects.toThrow('copy.txt holds in plain text what s/new holds');
    expectNoPlainText();
  });

  inSoak(() => {
    it('[B3] is found where an earlier harvest has taken the secret, or the copy', async () => {
      const checkout = await world.start();
      writeIn(checkout, 's/new', MORE);
      await world.harvest(checkout);
      rmSync(inside(checkout, 's/new'));
      writeIn(checkout, 'copy.txt', MORE);
      await expect(world.harvest(checkout)).rejects.toThrow('copy.txt holds in plain text what s/new holds');
      expectNoPlainText();
      const other = await world.start();
      writeIn(other, 'copy.txt', MORE);
      await world.harvest(other);
      copy(other, 'copy.txt', 's/new');
      await expect(world.harvest(other)).rejects.toThrow('copy.txt holds in plain text what s/new holds');
    });
  });

  it('[B3] that a check leaves after a harvest is encrypted in the rescue, in repositories inside too', async () => {
    const checkout = await world.start();
    appendFileSync(inside(checkout, 's/k'), MORE);
    await world.harvest(checkout);
    copy(checkout, 's/k', 'out.txt');
    gitIn(checkout, 'init', '--quiet', 'inner');
    copy(checkout, 's/k', 'inner/out.txt');
    gitIn(checkout, 'init', '--quiet', 's/inner');
    writeIn(checkout, 's/inner/new', MORE);
    copy(checkout, 's/inner/new', 'second.txt');
    const { rescue } = await removeCheckout(world.control, checkout);
    for (const path of ['out.txt', 'inner/out.txt', 'second.txt', 's/inner/new'])
      expect(place.git('cat-file', 'blob', `${rescue?.commit}:${path}`)).toContain(MARK);
    expectNoPlainText();
  });

  it('[B3] is refused under a filter that keeps no secrets', async () => {
    const checkout = await world.start();
    copy(checkout, 's/k', 'copy.up');
    await expect(world.harvest(checkout)).rejects.toThrow('copy.up holds in plain text what s/k holds');
    commitAll(checkout);
    await expect(world.harvest(checkout)).rejects.toThrow('copy.up holds in plain text what s/k holds');
    expectNoPlainText();
  });

  it('[B3] is found under a name that is not UTF-8', async () => {
    const checkout = await world.start();
    const name = Buffer.concat([Buffer.from(`${checkout.path}/f`), Buffer.from([0xff])]);
    writeFileSync(name, SECRET);
    await expect(world.harvest(checkout)).rejects.toThrow('holds in plain text what s/k holds');
    expectNoPlainText();
  });

  it('[B3] is read of all files at once, and of each where the filter fails for one', async () => {
    place.git(
      'config',
      'filter.vault.smudge',
      `sh -c 'x=$(cat; echo .); case $x in bad*) exit 1;; esac; printf %s "\${x%.}"'`,
    );
    const { control } = await openAttempts(place);
    const store = (text: string): string => {
      writeFileSync(join(place.path, 'x'), text);
      return place.git('hash-object', '-w', '--no-filters', 'x');
    };
    const texts = [
      'one text, which is long enough\nand has lines\n',
      '',
      'another that is long enough',
      'short',
    ];
    const toBlobs = (all: readonly string[]) =>
      all.map((text, at) => ({ path: `a b/${at}`, filter: 'vault', oid: store(text) }));
    const read = async (all: readonly string[]) => {
      const options = { objects: [], isPublic: () => false };
      const found = await readSecretBlobs(control, toBlobs(all), options);
      return found.map(({ path, text }) => [path, text.toString()]);
    };
    const expected = [
      ['a b/0', texts[0]?.trim()],
      ['a b/2', texts[2]],
    ];
    expect(await read(texts)).toEqual(expected);
    expect(await read([...texts, 'bad and long enough to count'])).toEqual(expected);
  });

  it('[B3] is none where the base has it in plain text, or where it is short', async () => {
    const checkout = await world.start();
    copy(checkout, 'readme', 's/readme');
    copy(checkout, 'readme', 'readme.txt');
    writeIn(checkout, 's/short', 'PORT=8080\n');
    writeIn(checkout, 'short', 'PORT=8080\n');
    writeIn(checkout, 's/line', 'NODE_ENV=production\n');
    writeIn(checkout, 'line', 'export NODE_ENV=production\n');
    const { files } = await world.harvest(checkout);
    expect(files).toEqual(['line', 'readme.txt', 's/line', 's/readme', 's/short', 'short']);
  });
});
