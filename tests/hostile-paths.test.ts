import { existsSync, linkSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeWayTo, readInside } from '#engine/inside-folder.ts';
import { workOnFile } from '#executors/agent-files.ts';
import { decidePermission } from '#executors/decide-permission.ts';
import { removeTree } from '#git/remove-tree.ts';
import { makePathWorld, type PathWorld, SECRET } from './support/hostile-paths.ts';
import { tempFolder } from './support/temp-repo.ts';

async function pathWorld(): Promise<PathWorld> {
  const folder = await tempFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return makePathWorld(folder.path);
}

/** Files of the user's that are not what they were. */
const findHarmed = ({ secrets }: PathWorld): string[] =>
  secrets.filter((path) => !existsSync(path) || readFileSync(path, 'utf8') !== SECRET);

const read = (cwd: string, path: string): (string | undefined)[] => [
  ...[workOnFile(cwd, { id: '1', path, kind: 'read' })].map((done) => (done.done ? done.text : undefined)),
  readInside(cwd, path)?.toString(),
  judge(cwd, path, 'read'),
];

/** The secret where an agent that asks for it would be allowed to go on, whatever its profile is. */
function judge(cwd: string, path: string, kind: 'read' | 'edit' | 'delete'): string | undefined {
  // The protocols of agents tell a removal as an edit of the file.
  const ask = {
    id: '1',
    tool: kind,
    kind: kind === 'delete' ? 'edit' : kind,
    paths: [path],
    input: { path },
  } as const;
  const policies = kind === 'read' ? (['ask', 'edits'] as const) : (['ask', 'edits', 'all'] as const);
  const said = policies.map((policy) => decidePermission(ask, { policy, read_only: false, cwd }).decision);
  return said.includes('allowed') ? SECRET : undefined;
}

describe('a path that leads out of a checkout, or into git’s own folder', () => {
  it('[D1] [D2] reads the secret where nobody looks at it', async () => {
    const world = await pathWorld();
    const { checkout, paths } = world;
    expect(paths.length).toBeGreaterThan(250);
    expect(paths.filter((path) => readFileSync(resolve(checkout, path), 'utf8') !== SECRET)).toEqual([]);
    // Whoever writes or removes without a look is found too.
    writeFileSync(resolve(checkout, paths[0] ?? ''), 'planted');
    rmSync(resolve(checkout, paths.at(-1) ?? ''));
    expect(findHarmed(world)).toHaveLength(1);
  });

  it('[D1] [D2] is not read for an agent', async ({ annotate }) => {
    const { checkout, paths } = await pathWorld();
    expect(paths.filter((path) => read(checkout, path).some((one) => one !== undefined))).toEqual([]);
    expect(read(checkout, 'a/file')).toEqual(['own\n', 'own\n', SECRET]);
    await annotate(`${paths.length} paths`);
  });

  it('[D1] [D2] is not written', async ({ annotate }) => {
    const world = await pathWorld();
    const { checkout, paths } = world;
    for (const path of paths) {
      const done = workOnFile(checkout, { id: '1', path, kind: 'write', text: 'planted' });
      const made = makeWayTo(checkout, path);
      if (made !== undefined) writeFileSync(made, 'planted');
      expect([path, done.done, judge(checkout, path, 'edit'), ...findHarmed(world)]).toEqual([
        path,
        false,
        undefined,
      ]);
    }
    await annotate(`${paths.length} paths`);
  });

  it('[D1] [D2] is not removed', async ({ annotate }) => {
    const world = await pathWorld();
    const { checkout, paths } = world;
    expect(judge(checkout, 'a/file', 'delete')).toBe(SECRET);
    for (const path of paths)
      if (judge(checkout, path, 'delete') !== undefined) rmSync(resolve(checkout, path));
    expect(findHarmed(world)).toEqual([]);
    // The folder with all of its links goes, and nothing that they lead to.
    await removeTree(checkout);
    expect(existsSync(checkout)).toBe(false);
    expect(findHarmed(world).filter((path) => !path.startsWith(`${checkout}/`))).toEqual([]);
    await annotate(`${paths.length} paths`);
  });
});

describe('what is not there yet', () => {
  it('[D2] is not made behind a link that leads nowhere', async () => {
    const { checkout } = await pathWorld();
    const outside = join(dirname(checkout), 'outside');
    const before = readdirSync(outside);
    symlinkSync('../outside/new', join(checkout, 'dangling'));
    symlinkSync('dangling', join(checkout, 'dangling-2'));
    for (const path of ['dangling', 'dangling-2', 'folder-link/new', 'a/up/outside/new', '../outside/new']) {
      expect(workOnFile(checkout, { id: '1', path, kind: 'write', text: 'planted' })).toMatchObject({
        done: false,
      });
      expect(makeWayTo(checkout, path)).toBeUndefined();
    }
    expect(readdirSync(outside)).toEqual(before);
  });
});

describe('a file with two names', () => {
  it('[D2] is written under the one name alone', async () => {
    const world = await pathWorld();
    const { checkout } = world;
    linkSync(join(dirname(checkout), 'outside', 'secret'), join(checkout, 'hard'));
    expect(workOnFile(checkout, { id: '1', path: 'hard', kind: 'write', text: 'new' })).toMatchObject({
      done: true,
    });
    expect(readFileSync(join(checkout, 'hard'), 'utf8')).toBe('new');
    expect(findHarmed(world)).toEqual([]);
  });
});
