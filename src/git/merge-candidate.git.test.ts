import { describe, expect, it } from 'vitest';
import { type AttemptPlace, attemptPlace, checkObjects } from '../../tests/support/attempt-places.ts';
import { askGit } from './ask-git.ts';
import { type CandidateRequest, makeCandidate } from './merge-candidate.ts';

const LINES = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
const AUTHOR = { name: 'Forge', email: 'forge@example.com', date: '1700000000 +0000' };

const text = (changes: Record<string, string> = {}) =>
  LINES.map((line) => `${changes[line] ?? line}\n`).join('');

/** Commits files (null removes) on a branch that is made at `from` where it is not there. */
async function commitOn(
  world: AttemptPlace,
  branch: string,
  files: Record<string, string | null>,
  from = 'main',
): Promise<string> {
  const { place } = world;
  const isThere = place.git('branch', '--list', branch) !== '';
  place.git('checkout', '--quiet', ...(isThere ? [branch] : ['-b', branch, from]));
  for (const [path, content] of Object.entries(files)) {
    if (content === null) place.git('rm', '--quiet', path);
    else await place.write(path, content);
  }
  place.git('add', '-A');
  place.git('commit', '--quiet', '-m', `on ${branch}: ${Object.keys(files).join(' ')}`);
  return place.git('rev-parse', 'HEAD');
}

interface Sides {
  readonly world: AttemptPlace;
  readonly request: CandidateRequest;
}

/** `base` on main, then both sides. */
async function branchOff(
  world: AttemptPlace,
  base: Record<string, string>,
  sides: { target: Record<string, string | null>; head: Record<string, string | null>[] },
): Promise<Sides> {
  const root = await commitOn(world, 'main', base);
  let head = root;
  for (const files of sides.head) head = await commitOn(world, 'attempt', files, root);
  const target = await commitOn(world, 'main', sides.target);
  return {
    world,
    request: { target, head, base: root, strategy: 'merge', message: 'Merge it', author: AUTHOR },
  };
}

const CLEAN = {
  target: { 'f.txt': text({ 1: 'target' }), 'gone.txt': null },
  head: [{ 'f.txt': text({ 9: 'head' }) }, { 'new.txt': 'new\n' }],
};

describe('makeCandidate', () => {
  it('merges, squashes and rebases to the same tree, and says the same twice', async () => {
    await using world = await attemptPlace();
    const { request } = await branchOff(world, { 'f.txt': text(), 'gone.txt': 'x\n' }, CLEAN);
    const { place, control } = world;
    const before = place.git('for-each-ref');
    const status = place.git('status', '--porcelain');
    const made = new Map<string, string>();
    const trees = new Set<string>();
    for (const strategy of ['merge', 'squash', 'rebase'] as const) {
      const candidate = await makeCandidate(control, { ...request, strategy });
      expect(candidate).toMatchObject({ kind: 'ready' });
      if (candidate.kind !== 'ready') continue;
      expect(await makeCandidate(control, { ...request, strategy })).toEqual(candidate);
      made.set(strategy, candidate.commit);
      trees.add(candidate.tree);
      expect(place.git('rev-parse', `${candidate.commit}^{tree}`)).toBe(candidate.tree);
    }
    expect(trees.size).toBe(1);
    const show = (strategy: string, format: string) =>
      place.git('log', `--format=${format}`, `${request.target}..${made.get(strategy)}`).split('\n');
    expect(place.git('rev-parse', `${made.get('merge')}^1`, `${made.get('merge')}^2`)).toBe(
      `${request.target}\n${request.head}`,
    );
    expect(show('squash', '%s %an %at %cn')).toEqual(['Merge it Forge 1700000000 Forge']);
    expect(show('rebase', '%s|%an|%cn')).toEqual([
      'on attempt: new.txt|Test User|Forge',
      'on attempt: f.txt|Test User|Forge',
    ]);
    expect(place.git('show', `${made.get('rebase')}:f.txt`)).toBe(text({ 1: 'target', 9: 'head' }).trimEnd());
    expect(place.git('for-each-ref')).toBe(before);
    expect(place.git('status', '--porcelain')).toBe(status);
    expect(checkObjects(place)).toBe('');
  });

  it('names the files in conflict and how', async () => {
    await using world = await attemptPlace();
    const { request } = await branchOff(
      world,
      { 'f.txt': text(), bin: '\0one', 'del.txt': 'x\n', 'ours-gone.txt': text(), 'fine.txt': 'x\n' },
      {
        target: {
          'f.txt': text({ 5: 'target' }),
          bin: '\0two',
          'del.txt': 'y\n',
          'new.txt': 'target\n',
          'ours-gone.txt': null,
        },
        head: [
          { 'f.txt': text({ 5: 'head' }), bin: '\0three', 'del.txt': null, 'new.txt': 'head\n' },
          { 'ours-gone.txt': text({ 5: 'head' }), 'fine.txt': 'y\n' },
        ],
      },
    );
    const files = [
      { path: 'bin', kind: 'binary' },
      { path: 'del.txt', kind: 'modify_delete' },
      { path: 'f.txt', kind: 'content' },
      { path: 'new.txt', kind: 'add_add' },
      { path: 'ours-gone.txt', kind: 'modify_delete' },
    ];
    for (const strategy of ['merge', 'squash'] as const)
      expect(await makeCandidate(world.control, { ...request, strategy })).toEqual({
        kind: 'conflict',
        files,
      });
    // A rebase stops at the first commit that does not fit.
    expect(await makeCandidate(world.control, { ...request, strategy: 'rebase' })).toEqual({
      kind: 'conflict',
      files: files.slice(0, -1),
    });
  });

  it('is empty where the target has everything, by the same commits or by others', async () => {
    await using world = await attemptPlace();
    const root = await commitOn(world, 'main', { 'f.txt': text() });
    const head = await commitOn(world, 'attempt', { 'f.txt': text({ 5: 'x' }) }, root);
    const target = await commitOn(world, 'main', { 'f.txt': text({ 5: 'x' }) });
    for (const strategy of ['merge', 'squash', 'rebase'] as const) {
      const request = { head, base: root, strategy, message: 'm', author: AUTHOR };
      for (const onto of [target, head])
        expect(await makeCandidate(world.control, { ...request, target: onto })).toEqual({ kind: 'empty' });
    }
  });

  it('rebases nothing that is on top already, and leaves merges out', async () => {
    await using world = await attemptPlace();
    const root = await commitOn(world, 'main', { 'f.txt': text() });
    const head = await commitOn(world, 'attempt', { 'f.txt': text({ 5: 'x' }) }, root);
    const request = {
      target: root,
      head,
      base: root,
      strategy: 'rebase',
      message: 'm',
      author: AUTHOR,
    } as const;
    expect(await makeCandidate(world.control, request)).toMatchObject({ commit: head });
    const target = await commitOn(world, 'main', { 'other.txt': 'x\n' });
    world.place.git('checkout', '--quiet', 'attempt');
    world.place.git('merge', '--quiet', '--no-edit', 'main');
    const merged = await commitOn(world, 'attempt', { 'last.txt': 'x\n' });
    const candidate = await makeCandidate(world.control, { ...request, target, head: merged });
    if (candidate.kind !== 'ready') throw new Error(candidate.kind);
    expect(world.place.git('log', '--format=%s', `${target}..${candidate.commit}`)).toBe(
      'on attempt: last.txt\non attempt: f.txt',
    );
    expect(world.place.git('rev-list', '--merges', `${target}..${candidate.commit}`)).toBe('');
  });

  it("heeds the target's .gitattributes, in folders too, and runs no driver that they name", async () => {
    await using world = await attemptPlace();
    const attributes = { '.gitattributes': '*.log merge=union\nsub/*.lock -merge\n*.txt merge=forge\n' };
    const both = (line: string) => ({ 'x.log': text({ 5: line }), 'deep/y.log': text({ 5: line }) });
    const { request } = await branchOff(
      world,
      {
        ...attributes,
        ...both('5'),
        'deep/.gitattributes': 'y.log -merge\n',
        'sub/a.lock': text(),
        'f.txt': text(),
      },
      {
        target: { ...both('target'), 'sub/a.lock': text({ 1: 'target' }), 'f.txt': text({ 1: 'target' }) },
        head: [{ ...both('head'), 'sub/a.lock': text({ 9: 'head' }), 'f.txt': text({ 9: 'head' }) }],
      },
    );
    world.place.git('config', 'merge.forge.driver', 'false');
    const candidate = await makeCandidate(world.control, request);
    expect(candidate).toEqual({
      kind: 'conflict',
      files: [
        { path: 'deep/y.log', kind: 'binary' },
        { path: 'sub/a.lock', kind: 'binary' },
      ],
    });
    // A bare directory alone sees none of it: a conflict that is none, and a lock file merged as text.
    const options = ['--write-tree', '--name-only', '--no-messages'];
    const plain = await askGit(world.control, ['merge-tree', ...options, request.target, request.head]);
    expect(plain.stdout.trim().split('\n').slice(1)).toEqual(['deep/y.log', 'x.log']);
  });

  it('says what it cannot merge', async () => {
    await using world = await attemptPlace();
    const { place, control } = world;
    const target = place.git('rev-parse', 'main');
    place.git('checkout', '--quiet', '--orphan', 'alone');
    place.git('commit', '--quiet', '--allow-empty', '-m', 'alone');
    const head = place.git('rev-parse', 'HEAD');
    const request = { target, head, base: head, strategy: 'merge', message: 'm' } as const;
    await expect(makeCandidate(control, request)).rejects.toMatchObject({
      code: 'state_invalid',
      message: expect.stringContaining('no commit in common'),
    });
  });
});
