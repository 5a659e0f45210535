import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttemptPlace,
  checkObjects,
  gitIn,
  openAttempts,
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { writeFakeCrypt, writeFilterProcess } from '../../tests/support/fake-crypt.ts';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { inSoak } from '../../tests/support/share-of.ts';
import { listRescueRefs } from './attempt-refs.ts';
import type { Checkout } from './checkout-record.ts';
import { makeCandidate } from './merge-candidate.ts';
import { removeCheckout, rescueCheckout } from './rescue-checkout.ts';
import { showCommit } from './show-commit.ts';

const SECRET = 'the password is hunter2';
/** What the fake filter makes of the secret, as far as a test needs it. */
const MARK = 'FAKECRYPT';

let place: GitPlace;
let world: AttemptPlace;

beforeEach(async () => {
  place = await gitPlace();
  useCrypt();
  await place.write('.gitattributes', 'secret/** filter=git-crypt diff=git-crypt\n');
  await place.write('secret/a', 'first secret\n');
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'secrets');
  world = await openAttempts(place);
});
afterEach(() => place[Symbol.asyncDispose]());

function useCrypt(): void {
  const program = writeFakeCrypt(join(place.path, '..', 'bin'));
  writeFileSync(join(place.path, '.git', 'fake-crypt-key'), 'key');
  place.git('config', 'filter.git-crypt.clean', `"${program}" clean`);
  place.git('config', 'filter.git-crypt.smudge', `"${program}" smudge`);
  place.git('config', 'filter.git-crypt.required', 'true');
}

/** The contents of all objects of the user's repository, reachable or not. */
function readAllObjects(): string {
  const lines = place.git('cat-file', '--batch-all-objects', '--batch-check').split('\n');
  const blobs = lines.filter((line) => line.includes(' blob ')).map((line) => line.split(' ')[0] ?? '');
  return blobs.map((oid) => place.git('cat-file', 'blob', oid)).join('\n');
}

function expectNoPlainText(): void {
  expect(readAllObjects()).not.toContain('hunter2');
  expect(checkObjects(place)).toBe('');
}

const OFF = ['clean', 'smudge'].flatMap((side) => ['-c', `filter.git-crypt.${side}=cat`]);

/** git of the agent without the filter, as if somebody had taken it out of the configuration. */
function commitPlain(checkout: Checkout, file: string, text = `${SECRET}\n`): string {
  writeIn(checkout, file, text);
  gitIn(checkout, ...OFF, 'add', '-A');
  gitIn(checkout, ...OFF, 'commit', '--quiet', '-m', `agent: ${file}`);
  return gitIn(checkout, 'rev-parse', 'HEAD');
}

describe("the user's filters", () => {
  it('[A4] show the agent what the user sees, and encrypt what it leaves', async () => {
    const checkout = await world.start();
    expect(readFileSync(join(checkout.path, 'secret/a'), 'utf8')).toBe('first secret\n');
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    writeIn(checkout, 'open.txt', 'for everybody\n');
    const { head, files, unfiltered } = await world.harvest(checkout);
    expect(files).toEqual(['open.txt', 'secret/b']);
    expect(unfiltered.size).toBe(0);
    expect(place.git('cat-file', 'blob', `${head}:secret/b`)).toContain(MARK);
    expect(place.git('cat-file', 'blob', `${head}:open.txt`)).toBe('for everybody');
    expectNoPlainText();
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    // The user's own git reads it back.
    place.git('checkout', '--quiet', '--detach', head);
    expect(readFileSync(join(place.path, 'secret/b'), 'utf8')).toBe(`${SECRET}\n`);
  });

  it("[A4] are in the agent's own git, so that its commits are encrypted", async () => {
    const checkout = await world.start();
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'by the agent');
    const own = gitIn(checkout, 'rev-parse', 'HEAD^{tree}');
    const { head, flattened, committed } = await world.harvest(checkout);
    expect(flattened).toBeUndefined();
    expect(committed).toBe(false);
    expect(place.git('rev-parse', `${head}^{tree}`)).toBe(own);
    expectNoPlainText();
  });

  it('[A4] are applied to what the agent has committed without them: its commits become one', async () => {
    const checkout = await world.start();
    writeIn(checkout, 'one.txt', 'one\n');
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'innocent');
    const plain = commitPlain(checkout, 'secret/b');
    const harvest = await world.harvest(checkout);
    expect(harvest.flattened).toMatch(
      new RegExp(`^${plain.slice(0, 12)} holds secret/[ab] without its filter git-crypt$`),
    );
    expect(harvest.files).toEqual(['one.txt', 'secret/b']);
    expect(place.git('rev-list', '--count', `${checkout.base}..${harvest.head}`)).toBe('1');
    expect(place.git('cat-file', 'blob', `${harvest.head}:secret/b`)).toContain(MARK);
    expect(harvest.rescued).toEqual([]);
    expectNoPlainText();
    // And it goes on from there.
    writeIn(checkout, 'two.txt', 'two\n');
    expect(await world.harvest(checkout)).toMatchObject({ files: ['one.txt', 'secret/b', 'two.txt'] });
  });

  inSoak(() => {
    it('[A4] are applied where the secret was in an earlier commit alone', async () => {
      const checkout = await world.start();
      commitPlain(checkout, 'secret/b');
      rmSync(join(checkout.path, 'secret/b'));
      writeIn(checkout, 'c.txt', 'c\n');
      gitIn(checkout, 'add', '-A');
      gitIn(checkout, 'commit', '--quiet', '-m', 'removed again');
      const harvest = await world.harvest(checkout);
      expect(harvest.flattened).toMatch(/secret\/[ab] without its filter/);
      expect(harvest.files).toEqual(['c.txt']);
      expectNoPlainText();
    });
  });

  it('[A4] keep a stash and other branches of the agent out that hold plain text', async () => {
    const checkout = await world.start();
    commitPlain(checkout, 'secret/b');
    gitIn(checkout, 'branch', 'aside');
    gitIn(checkout, 'reset', '--quiet', '--hard', 'HEAD~1');
    writeIn(checkout, 'secret/c', `${SECRET}\n`);
    gitIn(checkout, '-c', 'filter.git-crypt.clean=cat', 'stash', '--quiet', '--include-untracked');
    writeIn(checkout, 'fine.txt', 'fine\n');
    const harvest = await world.harvest(checkout);
    expect(harvest.flattened).toBeUndefined();
    expect(harvest.left_out).toEqual([
      expect.stringMatching(/secret\/[ab] without its filter git-crypt$/),
      expect.stringMatching(/secret\/[abc] without its filter git-crypt$/),
    ]);
    expect(harvest.files).toEqual(['fine.txt']);
    expect((await removeCheckout(world.control, checkout)).left_out).toHaveLength(2);
    expectNoPlainText();
  });

  it('[A4] refuse files from which .gitattributes takes the filter away, before anything is stored', async () => {
    const checkout = await world.start();
    writeIn(checkout, '.gitattributes', '# none\n');
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    await expect(world.harvest(checkout)).rejects.toMatchObject({
      code: 'state_invalid',
      message: expect.stringMatching(/secret\/b (?:is|are) under filter=git-crypt, and .+ takes that away/),
    });
    expectNoPlainText();
    // Also by a file of attributes further down.
    writeIn(checkout, '.gitattributes', 'secret/** filter=git-crypt diff=git-crypt\n');
    writeIn(checkout, 'secret/.gitattributes', '* !filter\n');
    await expect(world.harvest(checkout)).rejects.toMatchObject({ code: 'state_invalid' });
    // A rescue loses nothing, and encrypts.
    const rescue = await rescueCheckout(world.control, checkout);
    expect(place.git('cat-file', 'blob', `${rescue?.commit}:secret/b`)).toContain(MARK);
    expectNoPlainText();
  });

  it('[A4] count by what the agent has committed into .gitattributes too', async () => {
    const checkout = await world.start();
    writeIn(checkout, '.gitattributes', '# none\n');
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'no more filters');
    commitPlain(checkout, 'secret/b');
    await expect(world.harvest(checkout)).rejects.toMatchObject({
      message: expect.stringMatching(/secret\/b (?:is|are) under filter=git-crypt/),
    });
    writeIn(checkout, '.gitattributes', '*.key filter=git-crypt\nsecret/** filter=git-crypt\n');
    commitPlain(checkout, 'new.key');
    const harvest = await world.harvest(checkout);
    expect(harvest.flattened).toBeDefined();
    expect(place.git('cat-file', 'blob', `${harvest.head}:new.key`)).toContain(MARK);
    expectNoPlainText();
  });

  it('[A4] encrypt what is rescued before a folder goes, in repositories inside of it too', async () => {
    const checkout = await world.start();
    commitPlain(checkout, 'secret/b');
    writeIn(checkout, 'secret/c', `${SECRET}\n`);
    gitIn(checkout, 'init', '--quiet', 'secret/inner');
    writeIn(checkout, 'secret/inner/d', `${SECRET}\n`);
    const { rescue } = await removeCheckout(world.control, checkout);
    const [ref] = await listRescueRefs(world.control, checkout.attempt_id);
    expect(ref?.commit).toBe(rescue?.commit);
    for (const path of ['secret/b', 'secret/c', 'secret/inner/d'])
      expect(place.git('cat-file', 'blob', `${rescue?.commit}:${path}`)).toContain(MARK);
    expectNoPlainText();
  });

  it('[A4] are refused by name where the program fails, with nothing stored', async () => {
    const checkout = await world.start();
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    rmSync(join(place.path, '.git', 'fake-crypt-key'));
    await expect(world.harvest(checkout)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^secret\/[ab] is under filter=git-crypt, and its clean command failed: fake-crypt: no key/,
      ),
    });
    await expect(removeCheckout(world.control, checkout)).rejects.toThrow(
      /secret\/[ab] is under filter=git-crypt/,
    );
    expect(readFileSync(join(checkout.path, 'secret/b'), 'utf8')).toBe(`${SECRET}\n`);
    // Neither does a new attempt begin with what cannot be read.
    await expect(world.start()).rejects.toThrow('secret/a is under filter=git-crypt, and its smudge command');
    expectNoPlainText();
  });

  it.each([
    ['not configured at all', []],
    ['required, and without a command', [['filter.git-crypt.required', 'true']]],
  ])('[A4] that keep secrets are refused where they are %s', async (_, settings) => {
    place.git('config', '--remove-section', 'filter.git-crypt');
    const unset = await openAttempts(place);
    const checkout = await unset.start({ name: 'locked' });
    for (const [key = '', value = ''] of settings) place.git('config', key, value);
    const locked = await openAttempts(place);
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    await expect(locked.harvest(checkout)).rejects.toThrow(/secret\/[ab] is under filter=git-crypt/);
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'in plain text');
    await expect(locked.harvest(checkout)).rejects.toThrow(/secret\/[ab] is under filter=git-crypt/);
    expectNoPlainText();
  });

  it('[A4] that keep secrets let nothing be rescued in plain text where nobody has configured them', async () => {
    place.git('config', '--remove-section', 'filter.git-crypt');
    const unset = await openAttempts(place);
    const checkout = await unset.start({ name: 'locked' });
    writeIn(checkout, '.gitattributes', '# none\n');
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    await expect(rescueCheckout(unset.control, checkout)).rejects.toThrow(
      /secret\/b (?:is|are) under filter=git-crypt, which this clone does not configure/,
    );
    expectNoPlainText();
  });

  it('[A4] that are not required are refused all the same where they fail', async () => {
    place.git('config', 'filter.note.clean', 'no-such-program-anywhere');
    const noted = await openAttempts(place);
    const checkout = await noted.start();
    writeIn(checkout, '.gitattributes', 'secret/** filter=git-crypt\n*.note filter=note\n');
    writeIn(checkout, 'x.note', 'x\n');
    await expect(noted.harvest(checkout)).rejects.toThrow(
      'x.note is under filter=note, and its clean command',
    );
  });

  it('[A4] are told of where this clone does not configure them', async () => {
    const checkout = await world.start();
    writeIn(checkout, 'x.ipynb', '{}\n');
    writeIn(checkout, '.gitattributes', 'secret/** filter=git-crypt\n*.ipynb filter=nbstripout\n');
    const { unfiltered } = await world.harvest(checkout);
    expect([...unfiltered]).toEqual([['nbstripout', 'x.ipynb']]);
  });

  it("[A4] never run the attempt's copy of a program, also one of the user's global configuration", async () => {
    await place.write('tools/up.sh', '#!/bin/sh\ntr a-z A-Z\n');
    chmodSync(join(place.path, 'tools/up.sh'), 0o755);
    await place.write('.gitattributes', '*.up filter=up\n*.glob filter=glob\n');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'tools');
    place.git('config', 'filter.up.clean', 'tools/up.sh');
    await place.write('../global', '[filter "glob"]\n\tclean = sh tools/up.sh\n');
    const env = { ...place.repo.env, GIT_CONFIG_GLOBAL: join(place.path, '../global') };
    const own = await openAttempts({ ...place, repo: { ...place.repo, env } });
    const checkout = await own.start();
    const canary = join(place.path, '..', 'canary');
    writeIn(checkout, 'tools/up.sh', `#!/bin/sh\necho ran > '${canary}'\ncat\n`);
    writeIn(checkout, 'a.up', 'loud\n');
    writeIn(checkout, 'b.glob', 'loud\n');
    const { head } = await own.harvest(checkout);
    expect(place.git('cat-file', 'blob', `${head}:a.up`)).toBe('LOUD');
    expect(place.git('cat-file', 'blob', `${head}:b.glob`)).toBe('LOUD');
    expect(() => readFileSync(canary)).toThrow('ENOENT');
    // Its second side was never named, and passes everything.
    rmSync(join(checkout.path, 'a.up'));
    await showCommit(own.control, checkout, head);
    expect(readFileSync(join(checkout.path, 'a.up'), 'utf8')).toBe('LOUD\n');
  });

  it("[A4] are found in the user's info/attributes and core.attributesFile", async () => {
    mkdirSync(join(place.path, '.git', 'info'), { recursive: true });
    writeFileSync(join(place.path, '.git', 'info', 'attributes'), '*.pem filter=git-crypt\n');
    writeFileSync(join(place.path, 'extra-attributes'), '*.p12 filter=git-crypt\n');
    place.git('config', 'core.attributesFile', 'extra-attributes');
    const own = await openAttempts(place);
    const checkout = await own.start();
    writeIn(checkout, 'x.pem', `${SECRET}\n`);
    writeIn(checkout, 'x.p12', `${SECRET}\n`);
    const { head } = await own.harvest(checkout);
    expect(place.git('cat-file', 'blob', `${head}:x.pem`)).toContain(MARK);
    expect(place.git('cat-file', 'blob', `${head}:x.p12`)).toContain(MARK);
    writeIn(checkout, '.gitattributes', 'secret/** filter=git-crypt\n*.p12 !filter\n');
    writeIn(checkout, 'y.p12', `${SECRET}\n`);
    await expect(own.harvest(checkout)).rejects.toThrow(/y\.p12 (?:is|are) under filter=git-crypt/);
    expectNoPlainText();
  });

  it('[A4] are held against what would land, also where the target has them since then', async () => {
    const checkout = await world.start();
    writeIn(checkout, 'config/token', 'no secret as yet\n');
    writeIn(checkout, 'secret/b', `${SECRET}\n`);
    const { head } = await world.harvest(checkout);
    const request = { head, base: checkout.base, strategy: 'merge', message: 'Merge' } as const;
    const before = place.git('rev-parse', 'main');
    expect(await makeCandidate(world.control, { ...request, target: before })).toMatchObject({
      kind: 'ready',
    });
    await place.write('.gitattributes', 'secret/** filter=git-crypt\nconfig/** filter=git-crypt\n');
    place.git('commit', '--quiet', '-am', 'config is secret now');
    const target = place.git('rev-parse', 'main');
    await expect(makeCandidate(world.control, { ...request, target })).rejects.toMatchObject({
      code: 'state_invalid',
      message:
        'config/token is under filter=git-crypt, and what would be merged is not what that filter gives',
    });
  });

  it('[A4] count by the attributes of a commit, also where the base has none for its path', async () => {
    const checkout = await world.start();
    writeIn(
      checkout,
      '.gitattributes',
      'secret/** filter=git-crypt diff=git-crypt\n*.key filter=git-crypt\n',
    );
    writeIn(checkout, 'new.key', `${SECRET}\n`);
    gitIn(checkout, ...OFF, 'add', '.gitattributes', 'new.key');
    gitIn(checkout, ...OFF, 'commit', '--quiet', '-m', 'agent: new.key');
    const plain = gitIn(checkout, 'rev-parse', 'HEAD');
    const { head, flattened } = await world.harvest(checkout);
    expect(flattened).toBe(`${plain.slice(0, 12)} holds new.key without its filter git-crypt`);
    expect(place.git('cat-file', 'blob', `${head}:new.key`)).toContain(MARK);
    expectNoPlainText();
  });

  it('[A4] of the target are held against what would land, also where the attempt has set them aside', async () => {
    const checkout = await world.start();
    // Nobody minds as long as no filter is there.
    writeIn(checkout, 'config/.gitattributes', '* !filter\n');
    writeIn(checkout, 'config/token', 'no secret as yet\n');
    const { head } = await world.harvest(checkout);
    await place.write('.gitattributes', 'secret/** filter=git-crypt\nconfig/** filter=git-crypt\n');
    place.git('commit', '--quiet', '-am', 'config is secret now');
    const target = place.git('rev-parse', 'main');
    const request = { head, base: checkout.base, strategy: 'merge', message: 'Merge', target } as const;
    await expect(makeCandidate(world.control, request)).rejects.toMatchObject({
      code: 'state_invalid',
      message: expect.stringMatching(/config\/token (?:is|are) under filter=git-crypt/) as string,
    });
  });

  it('[A4] that give another result each time do not approve plain text, which they let pass on the way out', async () => {
    const program = writeFakeCrypt(join(place.path, '..', 'bin'));
    place.git(
      'config',
      'filter.salted.clean',
      `printf 'SALT%s\\n' "$(od -An -N8 -tx8 /dev/urandom)"; "${program}" clean`,
    );
    place.git(
      'config',
      'filter.salted.smudge',
      `sh -c 'read -r first; case $first in SALT*) exec "${program}" smudge;; esac; echo "$first"; cat'`,
    );
    await place.write('.gitattributes', '*.salted filter=salted\n');
    place.git('commit', '--quiet', '-am', 'salted');
    const salted = await openAttempts(place);
    const checkout = await salted.start();
    writeIn(checkout, 'x.salted', `${SECRET}\n`);
    const off = ['clean', 'smudge'].flatMap((side) => ['-c', `filter.salted.${side}=cat`]);
    gitIn(checkout, ...off, 'add', 'x.salted');
    gitIn(checkout, ...off, 'commit', '--quiet', '-m', 'in plain text');
    const { head, flattened } = await salted.harvest(checkout);
    expect(flattened).toMatch(/ holds x\.salted without its filter salted$/);
    expect(place.git('cat-file', 'blob', `${head}:x.salted`)).toMatch(/^SALT/);
    expectNoPlainText();
  });

  it('[A4] may give another result each time', async () => {
    const program = writeFakeCrypt(join(place.path, '..', 'bin'));
    place.git(
      'config',
      'filter.salted.clean',
      `printf 'SALT%s\\n' "$(od -An -N8 -tx8 /dev/urandom)"; "${program}" clean`,
    );
    place.git(
      'config',
      'filter.salted.smudge',
      `sh -c 'head -c 4 > /dev/null; head -n 1 > /dev/null; "${program}" smudge'`,
    );
    await place.write('.gitattributes', '*.salted filter=salted\n');
    place.git('commit', '--quiet', '-am', 'salted');
    const salted = await openAttempts(place);
    const checkout = await salted.start();
    writeIn(checkout, 'x.salted', `${SECRET}\n`);
    const { head } = await salted.harvest(checkout);
    const target = place.git('rev-parse', 'main');
    const request = { head, base: checkout.base, strategy: 'merge', message: 'Merge', target } as const;
    expect(await makeCandidate(salted.control, request)).toMatchObject({ kind: 'ready' });
    expectNoPlainText();
  });

  it('[A4] keep a secret from being moved out of its folder in plain text', async () => {
    await place.write('secret/known', `${SECRET}\n`);
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'a known secret');
    const checkout = await world.start();
    gitIn(checkout, 'mv', 'secret/known', 'moved.txt');
    await expect(world.harvest(checkout)).rejects.toThrow(
      'moved.txt holds in plain text what secret/known holds under filter=git-crypt: nothing was committed',
    );
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'moved');
    await expect(world.harvest(checkout)).rejects.toThrow('moved.txt holds in plain text');
    const rescue = await rescueCheckout(world.control, checkout);
    expect(place.git('cat-file', 'blob', `${rescue?.commit}:moved.txt`)).toContain(MARK);
    rmSync(join(checkout.path, 'moved.txt'));
    const harvest = await world.harvest(checkout);
    expect(harvest.flattened).toMatch(/ holds in moved\.txt the plain text of secret\/known$/);
    expect(harvest.files).toEqual(['secret/known']);
    expectNoPlainText();
  });

  it('[A4] may be a process that takes one file after the other', async () => {
    const program = writeFilterProcess(join(place.path, '..', 'bin'));
    place.git('config', 'filter.turn.process', `'${process.execPath}' '${program}'`);
    const turned = await openAttempts(place);
    const checkout = await turned.start();
    writeIn(checkout, '.gitattributes', 'secret/** filter=git-crypt\n*.turn filter=turn\n');
    writeIn(checkout, 'x.turn', 'abc\n');
    writeIn(checkout, 'y.turn', 'xyz\n');
    const { head } = await turned.harvest(checkout);
    expect(place.git('cat-file', 'blob', `${head}:x.turn`)).toBe('nop');
    expect(place.git('cat-file', 'blob', `${head}:y.turn`)).toBe('klm');
    const target = place.git('rev-parse', 'main');
    const request = { head, base: checkout.base, strategy: 'merge', message: 'Merge', target } as const;
    expect(await makeCandidate(turned.control, request)).toMatchObject({ kind: 'ready' });
    expect(readFileSync(join((await turned.start({ base: head })).path, 'x.turn'), 'utf8')).toBe('abc\n');
    writeFileSync(program, 'process.exit(1)');
    writeIn(checkout, 'z.turn', 'z\n');
    await expect(turned.harvest(checkout)).rejects.toThrow('The process of filter=turn ended before');
  });

  it("[A18] do not stand alone: an agent's commit with a repository in it does not come into history", async () => {
    const checkout = await world.start();
    gitIn(checkout, 'init', '--quiet', 'inner');
    writeIn(checkout, 'inner/x', 'x\n');
    gitIn(checkout, '-C', 'inner', '-c', 'user.name=a', '-c', 'user.email=a@b', 'add', '-A');
    gitIn(
      checkout,
      '-C',
      'inner',
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '--quiet',
      '-m',
      'x',
    );
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'a gitlink');
    const link = gitIn(checkout, 'rev-parse', 'HEAD');
    rmSync(join(checkout.path, 'inner', '.git'), { recursive: true });
    gitIn(checkout, 'rm', '--quiet', '--cached', 'inner');
    gitIn(checkout, 'add', '-A');
    gitIn(checkout, 'commit', '--quiet', '-m', 'plain files instead');
    const harvest = await world.harvest(checkout);
    expect(harvest.flattened).toBe(
      `${link.slice(0, 12)} holds a repository at inner that .gitmodules does not name`,
    );
    expect(harvest.files).toEqual(['inner/x']);
    expect(place.git('rev-list', '--count', `${checkout.base}..${harvest.head}`)).toBe('1');
  });

  inSoak(() => {
    it('[A4] keep a target that the agent has merged as a parent, where its commits become one', async () => {
      const checkout = await world.start();
      await place.write('main.txt', 'main\n');
      place.git('add', '.');
      place.git('commit', '--quiet', '-m', 'on main');
      const main = place.git('rev-parse', 'main');
      gitIn(checkout, 'merge', '--quiet', '--no-edit', main);
      commitPlain(checkout, 'secret/b');
      const harvest = await world.harvest(checkout);
      expect(harvest.flattened).toBeDefined();
      expect(place.git('log', '-1', '--format=%P', harvest.head)).toBe(`${checkout.base} ${main}`);
      expectNoPlainText();
    });
  });
});
