import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initWithStore, testMachine } from '../../tests/support/sync-project.ts';
import { runTestGit, tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { readGitHistory } from './read-git-history.ts';
import { getRepositoryPaths } from './repository-paths.ts';

const AT = '2026-02-10T09:00:00.000Z';

describe('a task’s life from git’s log', () => {
  it('over two branches and their merge: who changed what, oldest first', async () => {
    await using repo = await projectRepo();
    commit(repo, 'made', [line('fg-aaaa', { title: 'First' }), line('fg-bbbb')]);
    commit(repo, 'of no interest', [
      line('fg-aaaa', { title: 'First' }),
      line('fg-bbbb', { title: 'Other' }),
    ]);
    repo.git('switch', '--quiet', '-c', 'feature');
    const started = { title: 'First', status: 'in_progress', assignee: 'bob' };
    commit(repo, 'started', [line('fg-aaaa', started), line('fg-bbbb', { title: 'Other' })]);
    repo.git('switch', '--quiet', 'main');
    commit(repo, 'named', [line('fg-aaaa', { title: 'Second' }), line('fg-bbbb', { title: 'Other' })]);
    repo.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'feature');
    commit(repo, 'merged', [
      line('fg-aaaa', { ...started, title: 'Second' }),
      line('fg-bbbb', { title: 'Other' }),
    ]);
    commit(repo, 'removed', [line('fg-bbbb', { title: 'Other' })]);

    const entries = await history(repo, 'fg-aaaa');
    const told = entries.map(({ summary }) => summary.replace(/^[0-9a-f]{10} /, ''));
    expect(told[0]).toBe('made: came into the file');
    expect(told.at(-1)).toBe('removed: left the file');
    expect(told.toSorted()).toEqual(
      [
        'made: came into the file',
        'merged: changed status, state, assignee',
        'named: changed title',
        'removed: left the file',
        'started: changed status, state, assignee',
      ].toSorted(),
    );
    for (const { seq, type, triggered_by, at } of entries) {
      expect({ seq, type, triggered_by }).toEqual({
        seq: null,
        type: 'git.committed',
        triggered_by: 'Test User',
      });
      expect(at).toMatch(/^20\d\d-.*Z$/);
    }
    expect(entries.find(({ summary }) => summary.includes(' started: '))).toMatchObject({
      from_state: 'todo',
      to_state: 'in_progress',
      changed: expect.arrayContaining(['assignee']),
    });
    expect(await history(repo, 'fg-none')).toEqual([]);
  });

  it('a branch that was never merged counts, and lines that are no task do no harm', async () => {
    await using repo = await projectRepo();
    commit(repo, 'made', ['rubbish', line('fg-aaaa')]);
    repo.git('switch', '--quiet', '-c', 'lost');
    commit(repo, 'broken', ['rubbish', '{"id":"fg-aaaa","title":5}']);
    repo.git('switch', '--quiet', 'main');
    const told = (await history(repo, 'fg-aaaa')).map(({ summary }) => summary.slice(11));
    expect(told).toEqual(['made: came into the file', 'broken: written anew']);
  });

  it('a repository without commits has no history', async () => {
    await using repo = await projectRepo();
    expect(await history(repo, 'fg-aaaa')).toEqual([]);
  });
});

async function projectRepo(): Promise<TempRepo> {
  const repo = await tempRepo();
  await initWithStore(repo.path, machineOf(repo), { stealth: true });
  return repo;
}

let minute = 0;

/** Commits that share a second would have no order. */
function commit(repo: TempRepo, subject: string, lines: readonly string[]): void {
  const file = join(repo.path, '.forge', 'tasks.jsonl');
  writeFileSync(file, `${lines.join('\n')}\n`);
  repo.git('add', '--force', '.forge/tasks.jsonl');
  const date = `2026-03-01T10:${String((minute += 1)).padStart(2, '0')}:00Z`;
  runTestGit(repo.path, ['commit', '--quiet', '-m', subject], {
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  });
}

function line(id: string, more: object = {}): string {
  const base = { id, title: id, status: 'open', created_at: AT, created_by: 'ann', updated_at: AT };
  return JSON.stringify({ ...base, ...more });
}

function history(repo: TempRepo, id: string) {
  return readGitHistory(getRepositoryPaths(repo.path), id, machineOf(repo));
}

function machineOf(repo: TempRepo) {
  return testMachine(join(dirname(repo.path), 'home'));
}
