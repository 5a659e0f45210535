import { describe, expect, it } from 'vitest';
import { tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { findRepository } from '#git/find-repository.ts';
import { findHeldHere, type HeldLines } from './held-lines.ts';
import { TASKS_PATH } from './task-files.ts';

const ATTEMPT = 'Forge-Attempt: 35a4aaaa-0000-4000-8000-000000000000';

function line(id: string, title: string): string {
  return JSON.stringify({ id: `fg-${id}`, title });
}

/** Adds lines to the task file and commits it. */
async function commit(repo: TempRepo, lines: readonly string[], message = 'person'): Promise<void> {
  const before = repo.git('ls-files', TASKS_PATH) === '' ? '' : await repo.read(TASKS_PATH);
  await repo.write(TASKS_PATH, `${before}${lines.map((text) => `${text}\n`).join('')}`);
  repo.git('add', '-A');
  repo.git('commit', '--quiet', '-m', message);
}

async function find(repo: TempRepo, limit: number): Promise<HeldLines> {
  await using temp = await tempStore();
  const found = findRepository(repo.path);
  const held = found && (await findHeldHere(temp.store, found, { limit }));
  if (held === undefined) throw new Error('nothing is held');
  return held;
}

/** A branch with so many commits of an attempt, merged into `feature` or not. */
async function makeCommits(repo: TempRepo, count: number): Promise<void> {
  await commit(repo, [line('main', 'on main')]);
  repo.git('switch', '--quiet', '-c', 'forge/35a4-attempt');
  for (let n = 0; n < count; n += 1)
    await commit(repo, [line(`agent${n}`, 'agent')], `agent ${n}\n\n${ATTEMPT}`);
}

describe('[C5] lines of attempts, where more commits changed the file than are looked at', () => {
  it('of attempts that are merged here: no line of HEAD that the target lacks is joined in', async () => {
    await using repo = await tempRepo();
    await makeCommits(repo, 3);
    repo.git('switch', '--quiet', '-c', 'feature');
    const some = await find(repo, 2);
    expect(some.over).toBe(2);
    for (const n of [0, 1, 2]) expect(some.has(TASKS_PATH, line(`agent${n}`, 'agent'))).toBe(true);
    // What no commit has, a person has written just now; what the target has is taken.
    expect(some.has(TASKS_PATH, line('new', 'by hand'))).toBe(false);
    expect(some.has(TASKS_PATH, line('main', 'on main'))).toBe(false);
    expect((await find(repo, 3)).over).toBeUndefined();
  });

  it('of attempts elsewhere: only what their branches have is left out', async () => {
    await using repo = await tempRepo();
    await makeCommits(repo, 3);
    repo.git('switch', '--quiet', '-c', 'topic', 'main');
    await commit(repo, [line('topic', 'of a person')]);
    const held = await find(repo, 1);
    expect(held.has(TASKS_PATH, line('agent0', 'agent'))).toBe(true);
    expect(held.has(TASKS_PATH, line('agent2', 'agent'))).toBe(true);
    expect(held.has(TASKS_PATH, line('topic', 'of a person'))).toBe(false);
    expect(held.has(TASKS_PATH, line('main', 'by hand'))).toBe(false);
  });

  it('of persons who build on an attempt: only tasks that it touched are left out', async () => {
    await using repo = await tempRepo();
    await makeCommits(repo, 1);
    repo.git('switch', '--quiet', '-c', 'feature');
    for (const n of [0, 1, 2, 3]) await commit(repo, [line(`person${n}`, 'of a person')]);
    await commit(repo, [line('agent0', 'of a person')]);
    for (const limit of [1, 2, 100]) {
      const held = await find(repo, limit);
      expect(held.has(TASKS_PATH, line('agent0', 'agent'))).toBe(true);
      for (const n of [0, 1, 2, 3])
        expect(held.has(TASKS_PATH, line(`person${n}`, 'of a person'))).toBe(false);
    }
  });
});
