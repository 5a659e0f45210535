import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AttemptPlace,
  attemptPlace,
  checkObjects,
  gitIn,
  openAttempts,
  writeIn,
} from '../../tests/support/attempt-places.ts';
import { listRescueRefs, toKeepRef } from './attempt-refs.ts';
import { type Checkout, copyIndex } from './checkout-record.ts';
import { removeCheckout } from './rescue-checkout.ts';
import { gitPlace } from '../../tests/support/git-places.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';

const messageOf = (world: AttemptPlace, commit: string) =>
  world.place.git('log', '-1', '--format=%B', commit);
const filesOf = (world: AttemptPlace, commit: string) =>
  world.place.git('ls-tree', '-r', '--name-only', commit).split('\n');
/** What the user is told of where HEAD was. */
const STRAYED: Readonly<Record<string, unknown>> = {
  'detached HEAD': expect.stringMatching(/^at [0-9a-f]{12}$/),
  'its branch deleted': expect.stringMatching(/^at [0-9a-f]{12}$/),
  'another branch': 'on other',
  'a rebase that stopped': 'in the middle of a rebase',
};
const branchOf = (world: AttemptPlace, checkout: Checkout) =>
  world.place.git('rev-parse', `refs/heads/forge/${checkout.name}`);

function commitIn(checkout: Checkout, file: string, text = `${file}\n`): string {
  writeIn(checkout, file, text);
  gitIn(checkout, 'add', '-A');
  gitIn(checkout, 'commit', '--quiet', '-m', `agent: ${file}`);
  return gitIn(checkout, 'rev-parse', 'HEAD');
}

/** A file in 60 folders in folders, as no path can name it. */
function makeDeep(path: string): void {
  const name = 'a'.repeat(200);
  execFileSync('sh', ['-c', `for i in $(seq 60); do mkdir ${name}; cd -P ${name}; done; echo x > f`], {
    cwd: path,
  });
}

describe('harvestCheckout', () => {
  it('[S-M3] waits for no pipe where git reads its rules, in any folder, and names it', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'a.txt', 'changed\n');
    writeIn(checkout, 'deep/er/new.txt', 'new\n');
    const pipes = ['.gitattributes', '.gitignore', 'deep/.gitignore', 'deep/er/.gitattributes'];
    execFileSync('env', ['mkfifo', ...pipes], { cwd: checkout.path });
    const harvest = await world.harvest(checkout);
    expect(harvest.pipes.toSorted()).toEqual(pipes);
    expect(harvest.files).toEqual(['a.txt', 'deep/er/new.txt']);
    expect((await world.harvest(checkout)).pipes).toEqual([]);
  });

  it('[S-M3] ends with a signal while git waits, and has changed nothing', async () => {
    await using place = await gitPlace();
    place.git('config', 'filter.slow.clean', 'sleep 60');
    const world = await openAttempts(place);
    const checkout = await world.start();
    writeIn(checkout, '.gitattributes', '*.slow filter=slow\n');
    writeIn(checkout, 'a.slow', 'new\n');
    const signal = AbortSignal.timeout(100);
    await expect(world.harvest(checkout, { signal })).rejects.toMatchObject({ code: 'interrupted' });
    expect(branchOf(world, checkout)).toBe(checkout.base);
  });

  it('[S148] commits what was left, with trailers, and publishes the branch', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'a.txt', 'changed\n');
    writeIn(checkout, 'deep/new.txt', 'new\nlines\n');
    const author = { name: 'Worker', email: 'worker@example.com', date: '1700000000 +0000' };
    const harvest = await world.harvest(checkout, { author });
    expect(harvest).toMatchObject({
      base: checkout.base,
      committed: true,
      branch: 'moved',
      rescued: [],
      skipped: [],
      changed_files: 2,
      insertions: 3,
      deletions: 1,
      files: ['a.txt', 'deep/new.txt'],
    });
    expect(harvest.salvaged).toBeUndefined();
    expect(messageOf(world, harvest.head)).toBe(
      'Work of the agent\n\nForge-Task: fg-a3f8\nForge-Attempt: 35a403e3\n',
    );
    expect(world.place.git('log', '-1', '--format=%an %ae %at', harvest.head)).toBe(
      'Worker worker@example.com 1700000000',
    );
    expect(branchOf(world, checkout)).toBe(harvest.head);
    expect(world.place.git('rev-parse', toKeepRef(checkout.attempt_id))).toBe(harvest.head);
    expect(gitIn(checkout, 'status', '--porcelain', '--branch')).not.toMatch(/^[^#]/m);
    expect(gitIn(checkout, 'rev-parse', 'HEAD')).toBe(harvest.head);
    expect(checkObjects(world.place)).toBe('');
    expect(await world.harvest(checkout)).toMatchObject({ head: harvest.head, committed: false });
  });

  it("[S149] gives the agent's own commits the trailers, and nothing else that is new", async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    gitIn(checkout, 'config', 'user.name', 'Agent Smith');
    const first = commitIn(checkout, 'one.txt');
    gitIn(checkout, 'checkout', '--quiet', '-b', 'side');
    commitIn(checkout, 'side.txt');
    gitIn(checkout, 'checkout', '--quiet', `forge/${checkout.name}`);
    commitIn(checkout, 'two.txt');
    gitIn(checkout, 'merge', '--quiet', '--no-edit', 'side');
    const before = gitIn(checkout, 'log', '--format=%an %ae %at %ct %T %s', `${checkout.base}..HEAD`);
    const { head, committed, rescued } = await world.harvest(checkout);
    expect(committed).toBe(false);
    const range = `${checkout.base}..${head}`;
    expect(world.place.git('log', '--format=%an %ae %at %ct %T %s', range)).toBe(before);
    expect(before).toContain('Agent Smith');
    expect(world.place.git('rev-list', '--merges', '--count', range)).toBe('1');
    const bodies = world.place.git('log', '--format=%(trailers:key=Forge-Task,valueonly,separator=)', range);
    expect(bodies.split('\n')).toEqual(['fg-a3f8', 'fg-a3f8', 'fg-a3f8', 'fg-a3f8']);
    expect(messageOf(world, head)).toContain('\nForge-Attempt: 35a403e3\n');
    // The branch `side` stands at a commit whose new form is in the head, so nothing is apart.
    expect(rescued).toEqual([]);
    expect(world.place.git('rev-list', head)).not.toContain(first);
    // What has them keeps its id, whatever comes on top.
    const again = commitIn(checkout, 'three.txt');
    const next = await world.harvest(checkout);
    expect(next.head).not.toBe(again);
    expect(world.place.git('rev-parse', `${next.head}~1`)).toBe(head);
    expect(checkObjects(world.place)).toBe('');
  });

  it('[S2-F7] [S2-F11] takes no word of Forge and nothing for a terminal from an agent', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    const forged = 'Forge-Task: fg-zzzz\nForge-Attempt: 99999999\nForge-Agent: ada';
    writeIn(checkout, 'one.txt', 'one\n');
    gitIn(checkout, 'add', '-A');
    const author = 'Ada\u001b[31m <a@x>';
    gitIn(checkout, 'commit', '-q', '--author', author, '-m', `Good\u001b]0;pwn\u0007\u202e\n\n${forged}`);
    const { head } = await world.harvest(checkout, { message: 'x' });
    const text = String.raw`Good\u001b]0;pwn\u0007\u202e`;
    const own = 'Forge-Task: fg-a3f8\nForge-Attempt: 35a403e3\n';
    expect(messageOf(world, head)).toBe(`${text}\n\n${own}`);
    expect(world.place.git('log', '-1', '--format=%an', head)).toBe(String.raw`Ada\u001b[31m`);
    // Also not behind a ref that says it came from a server, nor in the title of a task.
    gitIn(checkout, 'commit', '-q', '--allow-empty', '-m', 'plain\n\nReviewed-by: A');
    const plain = gitIn(checkout, 'rev-parse', 'HEAD');
    gitIn(checkout, 'commit', '-q', '--allow-empty', '-m', `red\u001b[31m\n\n${forged}`);
    gitIn(checkout, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    writeIn(checkout, 'two.txt', 'two\n');
    const next = await world.harvest(checkout, { message: 'Forge-Task: fg-zzzz\u001b[31m' });
    expect(messageOf(world, next.head)).toBe(`No message\n\n${own}`);
    expect(messageOf(world, `${next.head}~1`)).toBe(`${String.raw`red\u001b[31m`}\n\n${own}`);
    expect(world.place.git('rev-parse', `${next.head}~2`)).toBe(plain);
    expect(world.place.git('rev-parse', `${plain}~1`)).toBe(head);
    expect(checkObjects(world.place)).toBe('');
  });

  it('leaves what was harvested before to the agent that made it', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    commitIn(checkout, 'one.txt');
    const first = await world.harvest(checkout, { trailers: { 'Forge-Agent': 'one' } });
    commitIn(checkout, 'two.txt');
    const second = await world.harvest(checkout, { trailers: { 'Forge-Agent': 'two' } });
    expect(world.place.git('rev-parse', `${second.head}~1`)).toBe(first.head);
    expect(messageOf(world, second.head)).toContain('Forge-Agent: two');
  });

  it('leaves commits of others alone that the agent has merged', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    await world.place.write('main.txt', 'main\n');
    world.place.git('add', '.');
    world.place.git('commit', '--quiet', '-m', 'on main');
    const main = world.place.git('rev-parse', 'main');
    commitIn(checkout, 'one.txt');
    gitIn(checkout, 'merge', '--quiet', '--no-edit', main);
    const { head } = await world.harvest(checkout);
    expect(world.place.git('rev-parse', `${head}^2`)).toBe(main);
    expect(messageOf(world, `${head}^1`)).toContain('Forge-Attempt: 35a403e3');
  });

  it("[S149] tells another attempt's commits from its own by their branch, also where it was moved", async () => {
    await using world = await attemptPlace();
    const [checkout, other] = [await world.start(), await world.start()];
    commitIn(other, 'theirs.txt');
    const theirs = (await world.harvest(other, { trailers: { 'Forge-Attempt': 'another' } })).head;
    const raw = commitIn(checkout, 'one.txt');
    // Whoever fetches from the checkout has the agent's commits on the attempt's branch, as they were.
    world.place.git('fetch', '--quiet', checkout.path, `+HEAD:refs/heads/forge/${checkout.name}`);
    expect(branchOf(world, checkout)).toBe(raw);
    gitIn(checkout, 'merge', '--quiet', '--no-edit', theirs);
    const { head } = await world.harvest(checkout);
    expect(messageOf(world, `${head}^1`)).toContain('Forge-Attempt: 35a403e3');
    expect(world.place.git('rev-parse', `${head}^2`)).toBe(theirs);
  });

  it('waits for no pipe that stands in the place of a file of git or of the user', async () => {
    await using world = await attemptPlace();
    for (const file of ['HEAD', 'config', 'packed-refs', 'MERGE_HEAD', 'index', 'objects/info/alternates']) {
      const checkout = await world.start();
      writeIn(checkout, 'new.txt', 'new\n');
      for (const path of [join(checkout.path, '.git', file), join(checkout.path, 'a.txt')]) {
        rmSync(path, { force: true });
        execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
      }
      const { head, files } = await world.harvest(checkout);
      expect({ file, files }).toEqual({ file, files: ['a.txt', 'new.txt'] });
      expect(filesOf(world, head)).not.toContain('a.txt');
    }
  });

  it.each<[string, (checkout: Checkout, outside: string) => void]>([
    [
      'a loose object',
      (checkout) => {
        const head = commitIn(checkout, 'new.txt');
        const file = join(checkout.path, '.git/objects', head.slice(0, 2), head.slice(2));
        rmSync(file, { force: true });
        execFileSync('env', ['mkfifo', file]);
      },
    ],
    [
      'packs and their lists',
      ({ path }) => {
        const objects = join(path, '.git/objects');
        mkdirSync(join(objects, 'info/commit-graphs'), { recursive: true });
        const names = ['x.idx', 'x.pack'].map((name) => `pack/pack-${'0'.repeat(39)}${name}`);
        const lists = ['info/commit-graph', 'info/commit-graphs/commit-graph-chain', 'pack/multi-pack-index'];
        execFileSync('env', ['mkfifo', ...names, ...lists], { cwd: objects });
      },
    ],
    [
      'a folder that it borrows from',
      (checkout, outside) => {
        const head = commitIn(checkout, 'new.txt');
        mkdirSync(join(outside, head.slice(0, 2)), { recursive: true });
        execFileSync('env', ['mkfifo', join(outside, head.slice(0, 2), head.slice(2))]);
        rmSync(join(checkout.path, '.git/objects', head.slice(0, 2), head.slice(2)));
        appendFileSync(join(checkout.path, '.git/objects/info/alternates'), `"${outside}"\n`);
      },
    ],
    [
      'a folder behind a link',
      (checkout, outside) => {
        const head = commitIn(checkout, 'new.txt');
        mkdirSync(outside, { recursive: true });
        execFileSync('env', ['mkfifo', join(outside, head.slice(2))]);
        rmSync(join(checkout.path, '.git/objects', head.slice(0, 2)), { recursive: true });
        symlinkSync(outside, join(checkout.path, '.git/objects', head.slice(0, 2)));
      },
    ],
  ])('[S2-F15] waits for no pipe among the objects: %s', async (_name, plant) => {
    await using world = await attemptPlace({ timeout_ms: 5_000 });
    const checkout = await world.start();
    plant(checkout, join(world.place.path, '..', 'outside'));
    writeIn(checkout, 'more.txt', 'more\n');
    const harvest = await world.harvest(checkout);
    expect(harvest.files).toContain('more.txt');
    expect(harvest.pipes.length).toBeGreaterThan(0);
    expect(gitIn(checkout, 'log', '-1', '--format=%s')).toBe('Work of the agent');
    expect(checkObjects(world.place)).toBe('');
  });

  it('[S2-F15] copes with folders in folders beyond the length of a path, also in its git directory', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    for (const folder of ['', '.git/refs/heads', '.git/rebase-merge']) {
      mkdirSync(join(checkout.path, folder), { recursive: true });
      makeDeep(join(checkout.path, folder));
    }
    writeIn(checkout, 'new.txt', 'new\n');
    expect((await world.harvest(checkout)).files).toEqual(['new.txt']);
    expect(await removeCheckout(world.control, checkout)).toMatchObject({ removed: true });
    expect(existsSync(checkout.path)).toBe(false);
  });

  it('has a merge that was resolved and not committed as a merge, and one with markers as none', async () => {
    await using world = await attemptPlace();
    const [good, bad] = [await world.start(), await world.start()];
    await world.place.write('a.txt', 'theirs\n');
    world.place.git('commit', '--quiet', '-a', '-m', 'on main');
    const main = world.place.git('rev-parse', 'main');
    for (const checkout of [good, bad]) {
      commitIn(checkout, 'a.txt', 'ours\n');
      expect(() => gitIn(checkout, 'merge', main)).toThrow('Command failed');
    }
    writeIn(good, 'a.txt', 'both\n');
    const { head } = await world.harvest(good);
    expect(world.place.git('rev-parse', `${head}^2`)).toBe(main);
    expect(world.place.git('show', `${head}:a.txt`)).toBe('both');
    const { head: half } = await world.harvest(bad);
    expect(world.place.git('rev-list', '--parents', '-1', half).split(' ')).toHaveLength(2);
    expect(world.place.git('show', `${half}:a.txt`)).toContain('<<<<<<<');
    expect(gitIn(bad, 'status')).not.toContain('merg');
  });

  it('sees an edit of the same size in the second of the start', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'a.txt', 'b\n');
    expect((await world.harvest(checkout)).files).toEqual(['a.txt']);
  });

  it('copies an index so that git trusts the copy no more than the original', async () => {
    await using world = await attemptPlace();
    const { place } = world;
    const stamp = new Date(1_700_000_000_000);
    const [file, index, copy] = [
      join(place.path, 'a.txt'),
      join(place.path, '.git/index'),
      join(place.path, '../copy'),
    ];
    utimesSync(file, stamp, stamp);
    place.git('config', 'core.trustctime', 'false');
    place.git('update-index', '--refresh');
    writeFileSync(file, 'b\n');
    for (const path of [file, index]) utimesSync(path, stamp, stamp);
    const look = (path: string) =>
      runTestGit(place.path, ['ls-files', '--modified'], { GIT_INDEX_FILE: path });
    expect(look(index)).toBe('a.txt');
    copyFileSync(index, copy);
    expect(look(copy)).toBe('');
    rmSync(copy);
    copyIndex(index, copy);
    expect(look(copy)).toBe('a.txt');
  });

  it.each<[string, (checkout: Checkout, world: AttemptPlace) => void]>([
    ['detached HEAD', (checkout) => gitIn(checkout, 'checkout', '--quiet', '--detach')],
    ['another branch', (checkout) => gitIn(checkout, 'checkout', '--quiet', '-b', 'other')],
    ['index.lock', (checkout) => writeIn(checkout, '.git/index.lock', '')],
    ['a spoilt index', (checkout) => writeIn(checkout, '.git/index', 'rubbish')],
    ['a spoilt configuration', (checkout) => writeIn(checkout, '.git/config', '[broken\nrubbish')],
    ['packed refs', (checkout) => gitIn(checkout, 'pack-refs', '--all', '--prune')],
    ['gc', (checkout) => gitIn(checkout, 'gc', '--quiet', '--prune=now')],
    [
      'a rebase that stopped',
      (checkout) => {
        gitIn(checkout, 'checkout', '--quiet', '-b', 'onto', checkout.base);
        commitIn(checkout, 'agent.txt', 'other\n');
        gitIn(checkout, 'checkout', '--quiet', `forge/${checkout.name}`);
        expect(() => gitIn(checkout, 'rebase', 'onto')).toThrow('Command failed');
        writeIn(checkout, 'agent.txt', 'agent.txt\n');
      },
    ],
    [
      'its branch deleted',
      (checkout) => {
        gitIn(checkout, 'checkout', '--quiet', '--detach');
        gitIn(checkout, 'branch', '-D', `forge/${checkout.name}`);
      },
    ],
  ])('[E16] takes commits and files over in spite of %s', async (name, spoil) => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    const own = commitIn(checkout, 'agent.txt');
    spoil(checkout, world);
    writeIn(checkout, 'left.txt', 'left\n');
    const { head, committed, rescued, salvaged, strayed } = await world.harvest(checkout);
    expect({ committed, salvaged }).toEqual({ committed: true, salvaged: undefined });
    expect(strayed).toEqual(STRAYED[name] ?? undefined);
    expect((await world.harvest(checkout)).strayed).toBeUndefined();
    expect(filesOf(world, head)).toEqual(['a.txt', 'agent.txt', 'left.txt']);
    expect(world.place.git('show', `${head}:agent.txt`)).toBe('agent.txt');
    expect(branchOf(world, checkout)).toBe(head);
    expect(gitIn(checkout, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/forge/${checkout.name}`);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    expect(gitIn(checkout, 'status')).not.toMatch(/rebas|merg/);
    // Whatever HEAD no longer led to is kept: the agent's own commit under this id, or with trailers.
    const subjects = world.place.git('log', '--format=%s', head, ...rescued);
    expect(subjects).toContain('agent: agent.txt');
    expect(own).toMatch(/^[0-9a-f]{40}$/);
    expect(checkObjects(world.place)).toBe('');
  });

  it.each<[string, (git: string) => void]>([
    ['deleted', (git) => rmSync(git, { recursive: true })],
    [
      'emptied',
      (git) => ['HEAD', 'refs', 'objects'].forEach((name) => rmSync(join(git, name), { recursive: true })),
    ],
    ['replaced by a file', (git) => (rmSync(git, { recursive: true }), writeFileSync(git, 'gitdir: /tmp\n'))],
    ['a link elsewhere', (git) => (renameSync(git, `${git}-moved`), symlinkSync(`${git}-moved`, git))],
    ['without its objects', (git) => rmSync(join(git, 'objects'), { recursive: true })],
    ['with a HEAD that is no commit', (git) => writeFileSync(join(git, 'HEAD'), `${'1'.repeat(40)}\n`)],
  ])('saves the files where .git is %s', async (_name, spoil) => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'first.txt', 'first\n');
    const first = await world.harvest(checkout);
    commitIn(checkout, 'second.txt');
    spoil(join(checkout.path, '.git'));
    rmSync(join(checkout.path, '.git-moved'), { recursive: true, force: true });
    const { head, salvaged } = await world.harvest(checkout);
    expect(salvaged).toBeTypeOf('string');
    expect(world.place.git('rev-parse', `${head}~1`)).toBe(first.head);
    expect(filesOf(world, head)).toEqual(['a.txt', 'first.txt', 'second.txt']);
    // And there is a repository again for whoever goes on.
    expect(gitIn(checkout, 'config', 'forge.attempt')).toBe(checkout.attempt_id);
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    expect(checkObjects(world.place)).toBe('');
  });

  it('[E16] keeps what the agent left on other branches, in a stash, or behind a reset', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'kept.txt', 'kept\n');
    const first = await world.harvest(checkout);
    gitIn(checkout, 'checkout', '--quiet', '-b', 'apart');
    const apart = commitIn(checkout, 'apart.txt');
    gitIn(checkout, 'checkout', '--quiet', `forge/${checkout.name}`);
    writeIn(checkout, 'stashed.txt', 'stashed\n');
    gitIn(checkout, 'stash', '--quiet', '--include-untracked');
    gitIn(checkout, 'reset', '--quiet', '--hard', checkout.base);
    const { head, rescued } = await world.harvest(checkout);
    expect(head).toBe(checkout.base);
    const tips = rescued.map((ref) => world.place.git('rev-parse', ref));
    expect(rescued).toHaveLength(3);
    expect(tips).toContain(apart);
    expect(tips).toContain(first.head);
    expect(await world.harvest(checkout)).toMatchObject({ rescued: [rescued[1], rescued[2]] });
    expect(await listRescueRefs(world.control, checkout.attempt_id)).toHaveLength(3);
    rmSync(checkout.path, { recursive: true });
    world.place.git('reflog', 'expire', '--expire=now', '--all');
    world.place.git('gc', '--quiet', '--prune=now');
    expect(checkObjects(world.place)).toBe('');
    expect(world.place.git('log', '--all', '--format=%s')).toContain('agent: apart.txt');
  });

  it('leaves out what Forge copied, also where .gitignore or the agent says otherwise', async () => {
    await using world = await attemptPlace({ copied: ['.env', 'secrets/'] });
    const checkout = await world.start();
    const copied = ['.env', 'secrets/key'];
    for (const file of copied) writeIn(checkout, file, 'SECRET\n');
    expect(gitIn(checkout, 'status', '--porcelain')).toBe('');
    writeIn(checkout, '.gitignore', '!.env\n!secrets/\n');
    expect(gitIn(checkout, 'status', '--porcelain')).toContain('.env');
    const first = await world.harvest(checkout);
    expect(filesOf(world, first.head)).toEqual(['.gitignore', 'a.txt']);
    gitIn(checkout, 'add', '--force', ...copied);
    gitIn(checkout, 'commit', '--quiet', '-m', 'agent: secrets');
    commitIn(checkout, 'more.txt');
    const { head } = await world.harvest(checkout, { copied_files: copied });
    expect(filesOf(world, head)).toEqual(['.gitignore', 'a.txt', 'more.txt']);
    expect(world.place.git('log', '--format=%H', head, '--', ...copied)).toBe('');
    expect(readFileSync(join(checkout.path, '.env'), 'utf8')).toBe('SECRET\n');
  });

  it('refuses repositories inside by name, with or without commits, staged or committed', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'empty repo/x', 'x\n');
    gitIn(checkout, 'init', '--quiet', 'empty repo');
    const refused = { code: 'state_invalid', details: { paths: ['empty repo'] } };
    await expect(world.harvest(checkout)).rejects.toMatchObject(refused);
    rmSync(join(checkout.path, 'empty repo/.git'), { recursive: true });
    gitIn(checkout, 'init', '--quiet', 'lib');
    gitIn(
      checkout,
      '-C',
      'lib',
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@y',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'x',
    );
    await expect(world.harvest(checkout)).rejects.toMatchObject({ details: { paths: ['lib'] } });
    commitIn(checkout, 'file.txt');
    expect(gitIn(checkout, 'ls-tree', 'HEAD', 'lib')).toContain('160000');
    await expect(world.harvest(checkout)).rejects.toMatchObject({ details: { paths: ['lib'] } });
    expect(branchOf(world, checkout)).toBe(checkout.base);
  });

  it('refuses new files above the limit by name, or skips them', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'core.dump', Buffer.alloc(2_000));
    writeIn(checkout, 'small', Buffer.alloc(1_000));
    const limit = { large_file_bytes: 1_500 };
    await expect(world.harvest(checkout, limit)).rejects.toMatchObject({
      message: expect.stringContaining('core.dump'),
      details: { paths: ['core.dump'], limit_bytes: 1_500 },
    });
    const names = Array.from({ length: 24 }, (_, at) => `big-${at}`);
    for (const name of names) writeIn(checkout, name, Buffer.alloc(2_000));
    await expect(world.harvest(checkout, limit)).rejects.toThrow(/big-\d+ and 5 more$/);
    for (const name of names) rmSync(join(checkout.path, name));
    const { head, skipped } = await world.harvest(checkout, { ...limit, large_files: 'skip' });
    expect(skipped).toEqual([{ path: 'core.dump', size_bytes: 2_000 }]);
    expect(filesOf(world, head)).toEqual(['a.txt', 'small']);
    expect(existsSync(join(checkout.path, 'core.dump'))).toBe(true);
  });

  it('takes files that became folders, links, programs, and names of any bytes', async () => {
    await using world = await attemptPlace();
    for (const file of ['dir/x', 'link']) await world.place.write(file, 'x\n');
    world.place.git('add', '.');
    world.place.git('commit', '--quiet', '-m', 'more');
    const checkout = await world.start();
    for (const file of ['a.txt', 'dir', 'link']) rmSync(join(checkout.path, file), { recursive: true });
    writeIn(checkout, 'a.txt/inside', 'x\n');
    writeIn(checkout, 'dir', 'now a file\n');
    symlinkSync('dir', join(checkout.path, 'link'));
    writeFileSync(Buffer.from(`${checkout.path}/latin-\xe9`, 'latin1'), 'x');
    writeIn(checkout, 'new\nline "quoted"', 'x');
    writeIn(checkout, '-dash', 'x');
    const { head } = await world.harvest(checkout);
    const entries = world.place.git('-c', 'core.quotePath=true', 'ls-tree', '-r', head);
    expect(entries.split('\n').map((line) => line.replace(/ \w+ \w+\t/, ' '))).toEqual([
      '100644 -dash',
      '100644 a.txt/inside',
      '100644 dir',
      '100644 "latin-\\351"',
      '120000 link',
      '100644 "new\\nline \\"quoted\\""',
    ]);
  });

  it('keeps the commits where the published branch was deleted, moved or checked out', async () => {
    await using world = await attemptPlace();
    const { place } = world;
    const checkouts = [await world.start(), await world.start(), await world.start()];
    const [deleted, moved, taken] = checkouts as [Checkout, Checkout, Checkout];
    place.git('commit', '--quiet', '--allow-empty', '-m', 'second');
    place.git('branch', '-D', `forge/${deleted.name}`);
    place.git('branch', '--force', `forge/${moved.name}`, 'main');
    place.git('worktree', 'add', '--quiet', join(place.path, '..', 'theirs'), `forge/${taken.name}`);
    for (const checkout of checkouts) writeIn(checkout, 'work.txt', 'work\n');
    const results = await Promise.all(checkouts.map((checkout) => world.harvest(checkout)));
    expect(results.map(({ branch }) => branch)).toEqual(['missing', 'elsewhere', 'checked_out']);
    expect(place.git('rev-parse', `forge/${moved.name}`)).toBe(place.git('rev-parse', 'main'));
    expect(place.git('-C', join(place.path, '..', 'theirs'), 'status', '--porcelain')).toBe('');
    for (const [at, { attempt_id }] of checkouts.entries())
      expect(place.git('rev-parse', toKeepRef(attempt_id))).toBe(results[at]?.head);
  });

  it('goes on where somebody deleted what keeps the attempt, or all of the control directory', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    writeIn(checkout, 'one.txt', 'one\n');
    const { head } = await world.harvest(checkout);
    world.place.git('update-ref', '-d', toKeepRef(checkout.attempt_id));
    writeIn(checkout, 'two.txt', 'two\n');
    const second = await world.harvest(checkout);
    expect(world.place.git('rev-parse', `${second.head}~1`)).toBe(head);
    rmSync(world.control.git_dir, { recursive: true });
    const again = await openAttempts(world.place);
    writeIn(checkout, 'three.txt', 'three\n');
    const third = await again.harvest(checkout);
    expect(filesOf(world, third.head)).toEqual(['a.txt', 'one.txt', 'three.txt', 'two.txt']);
  });

  it('says so where the folder is gone, or is another one, and touches neither', async () => {
    await using world = await attemptPlace();
    const checkout = await world.start();
    renameSync(checkout.path, `${checkout.path}-moved`);
    await expect(world.harvest(checkout)).rejects.toMatchObject({ code: 'not_found' });
    mkdirSync(checkout.path);
    writeIn(checkout, 'stranger.txt', 'x');
    await expect(world.harvest(checkout)).rejects.toMatchObject({ code: 'permission_denied' });
    rmSync(checkout.path, { recursive: true });
    symlinkSync(world.place.path, checkout.path);
    await expect(world.harvest(checkout)).rejects.toMatchObject({ code: 'permission_denied' });
    expect(world.place.git('status', '--porcelain')).toBe('');
  });
});
