import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from './random.ts';
import { FIELDS, valueIn } from './script-model.ts';
import { PEOPLE, type Step } from './script-steps.ts';
import { editFile } from './script-writes.ts';
import { FILE, forge, git, isBranchMode, readLines, type Place, type ScriptWorld } from './script-world.ts';

export function commit(world: ScriptWorld, place: Place, ...flags: string[]): void {
  git(world, place, 'commit', '--quiet', '--allow-empty', '-am', 'work', ...flags);
  // In branch mode a commit has no task file.
  if (!isBranchMode(world)) [place.committed, place.pending] = [place.pending, []];
}

/** Git refuses to merge or to change branches over a changed file. */
export function commitAll(world: ScriptWorld, place: Place, ...flags: string[]): void {
  if (isDirty(place)) commit(world, place, ...flags);
}

function isDirty({ clone }: Place): boolean {
  return clone.git('status', '--porcelain', '--untracked-files=no') !== '';
}

export function branchOf({ clone }: Place): string {
  return clone.git('branch', '--show-current');
}

/** With what git began, as a person does who says yes to all of it. */
export function finish(world: ScriptWorld, place: Place): void {
  const inGit = (name: string): boolean => existsSync(join(place.clone.path, '.git', name));
  for (let tries = 0; tries < 8; tries += 1) {
    const isRebase = inGit('rebase-merge') || inGit('rebase-apply');
    if (!isRebase && !inGit('MERGE_HEAD')) return;
    git(world, place, 'add', '-A');
    if (isRebase) git(world, place, 'rebase', '--continue');
    else git(world, place, 'commit', '--quiet', '--no-edit');
  }
  throw new Error(`${place.name} cannot end what git began`);
}

export function pull(world: ScriptWorld, place: Place, way: '--no-rebase' | '--rebase'): void {
  commitAll(world, place);
  // A hook may have written the file once more.
  commitAll(world, place, '--no-verify');
  git(world, place, 'pull', '--quiet', way, 'origin', 'main');
  finish(world, place);
  place.isUnexported = true;
  world.model.hears(place.name);
}

/** Whether the remote has it now. */
export function push(world: ScriptWorld, place: Place): boolean {
  const branch = branchOf(place);
  if (branch !== 'main') return git(world, place, 'push', '--quiet', '--force', 'origin', branch);
  for (let tries = 0; tries < 3; tries += 1) {
    if (git(world, place, 'push', '--quiet', 'origin', 'main')) return true;
    pull(world, place, '--no-rebase');
  }
  return false;
}

export function toMain(world: ScriptWorld, place: Place): void {
  commitAll(world, place);
  commitAll(world, place, '--no-verify');
  if (branchOf(place) !== 'main') git(world, place, 'checkout', '--quiet', 'main');
}

export function mergeFeature(world: ScriptWorld, place: Place): void {
  const feature = `feature-${place.name}`;
  if (place.clone.tryGit(['rev-parse', '--verify', '--quiet', feature]).exit !== 0) return;
  git(world, place, 'merge', '--quiet', '--no-edit', feature);
  finish(world, place);
}

export function changeBranch(world: ScriptWorld, place: Place, random: Random): void {
  place.isUnexported = true;
  if (branchOf(place) !== 'main') {
    toMain(world, place);
    if (!random.oneIn(3)) mergeFeature(world, place);
    return;
  }
  commitAll(world, place);
  commitAll(world, place, '--no-verify');
  const feature = `feature-${place.name}`;
  if (place.clone.tryGit(['rev-parse', '--verify', '--quiet', feature]).exit === 0)
    git(world, place, 'checkout', '--quiet', feature);
  else git(world, place, 'checkout', '--quiet', '-b', feature);
}

/** A clone without Forge, as a server's web page has one, is gone after `use`. */
async function onServer(world: ScriptWorld, use: (server: Place) => void): Promise<void> {
  const clone = await world.clones.addClone('server', { init: false });
  // Not one of the people; it only needs a name.
  use({ name: 'server' as Place['name'], clone, pending: [], committed: [], isUnexported: false });
  rmSync(clone.path, { recursive: true, force: true });
}

export function editOnServer(world: ScriptWorld, step: Step, random: Random): Promise<void> {
  return onServer(world, (server) => {
    world.model.hears('server');
    if (isBranchMode(world) && !git(world, server, 'checkout', '--quiet', world.trunk)) return;
    if (!editFile(world, server, step, random)) return;
    git(world, server, 'commit', '--quiet', '-am', 'on the server');
    git(world, server, 'push', '--quiet', 'origin', world.trunk);
  });
}

export function mergeOnServer(world: ScriptWorld, random: Random): Promise<void> {
  const feature = `origin/feature-${random.pick(PEOPLE)}`;
  const isSquash = random.oneIn(2);
  return onServer(world, (server) => {
    if (server.clone.tryGit(['rev-parse', '--verify', '--quiet', feature]).exit !== 0) return;
    const flags = isSquash ? ['--squash'] : ['--no-edit', '--no-ff'];
    // A server that finds a conflict merges nothing.
    if (!git(world, server, 'merge', '--quiet', ...flags, feature)) return;
    if (isSquash) git(world, server, 'commit', '--quiet', '--allow-empty', '-m', 'squash');
    git(world, server, 'push', '--quiet', 'origin', 'main');
  });
}

/** What the file shows after git wrote it may count as written by hand, over what it showed before. */
function doubtFile(world: ScriptWorld, place: Place, before: ReturnType<typeof readLines>): void {
  for (const line of readLines(place.clone) ?? []) {
    const old = before?.find(({ id }) => id === line.id);
    for (const field of FIELDS) {
      const value = valueIn(line, field);
      const written = { task: line.id, field, clone: place.name, how: 'git brought it back' };
      const saw = old === undefined ? undefined : valueIn(old, field);
      world.model.wrote(written, value, saw === value ? undefined : saw).isDoubtful = true;
    }
    world.model.labels.doubt(line.id, line);
  }
}

export async function stashAndPop(world: ScriptWorld, place: Place, random: Random): Promise<void> {
  if (!isDirty(place)) return;
  const { pending } = place;
  if (!git(world, place, 'stash', '--quiet')) return;
  if (random.oneIn(2)) await forge(world, place, 'ready');
  git(world, place, 'stash', 'pop', '--quiet');
  place.pending = pending;
  place.isUnexported = true;
  doubtFile(world, place, undefined);
}

export function checkOutFile(world: ScriptWorld, place: Place, random: Random): void {
  if (isBranchMode(world)) return;
  const before = readLines(place.clone);
  const isOld = random.oneIn(3);
  if (!git(world, place, 'checkout', '--quiet', ...(isOld ? ['HEAD~1'] : []), '--', FILE)) return;
  for (const edit of place.pending) edit.isDoubtful = true;
  place.pending = [];
  place.isUnexported = true;
  if (isOld) doubtFile(world, place, before);
}

/** Whether only this clone has what is checked out, so that it may be another one instead. */
function isOwnCommit({ clone }: Place): boolean {
  const isShared = clone.git('branch', '--remotes', '--contains', 'HEAD') !== '';
  return !isShared && clone.tryGit(['rev-parse', '--verify', '--quiet', 'HEAD^2']).exit !== 0;
}

export function amend(world: ScriptWorld, place: Place): void {
  if (!isOwnCommit(place)) return;
  git(world, place, 'commit', '--quiet', '--allow-empty', '-a', '--amend', '--no-edit');
  if (isBranchMode(world)) return;
  place.committed = [...place.committed, ...place.pending];
  place.pending = [];
}

/** The files stay as they are. */
export function undoCommit(world: ScriptWorld, place: Place, random: Random): void {
  if (!isOwnCommit(place)) return;
  if (!git(world, place, 'reset', '--quiet', random.oneIn(2) ? '--soft' : '--mixed', 'HEAD~1')) return;
  place.pending = [...place.committed, ...place.pending];
  place.committed = [];
}

/** All branches that others have pushed, in one merge; git does not do it where they conflict. */
export function mergeAll(world: ScriptWorld, place: Place): void {
  commitAll(world, place);
  commitAll(world, place, '--no-verify');
  git(world, place, 'fetch', '--quiet', 'origin');
  const features = PEOPLE.map((name) => `origin/feature-${name}`).filter(
    (name) => place.clone.tryGit(['rev-parse', '--verify', '--quiet', name]).exit === 0,
  );
  if (features.length < 2 || isDirty(place)) return;
  place.isUnexported = true;
  if (!git(world, place, 'merge', '--quiet', '--no-edit', ...features))
    git(world, place, 'reset', '--quiet', '--hard', 'HEAD');
}

/** What was written nowhere but into the database would be gone, as the documentation says. */
export async function loseDatabase(world: ScriptWorld, place: Place): Promise<void> {
  if (place.isUnexported && (await forge(world, place, 'export')).exit !== 0) return;
  // Nor has git what was not committed, where a later step throws the file away.
  commitAll(world, place, '--no-verify');
  rmSync(join(place.clone.path, '.git', 'forge'), { recursive: true, force: true });
  world.told.push(`   ${place.name}$ rm -rf .git/forge`);
}

export async function cloneAnew(world: ScriptWorld, place: Place): Promise<void> {
  if ((await forge(world, place, 'commit')).exit !== 0) return;
  toMain(world, place);
  mergeFeature(world, place);
  if ((await forge(world, place, 'commit')).exit !== 0 || !push(world, place)) return;
  if ((await forge(world, place, 'sync')).exit !== 0) return;
  if (isDirty(place)) return;
  rmSync(place.clone.path, { recursive: true });
  place.clone = await world.clones.addClone(place.name, { init: false });
  await forge(world, place, ...world.init);
  world.model.hears(place.name);
}
