import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import type { OutputOf } from '#contract/declare.ts';
import type {
  cleanWorkspaces,
  forecast,
  listClis,
  listWorkspaces,
  makeWorktree,
  rescueWorkspaces,
  whereAmI,
} from '#contract/workspace-operations.ts';
import { systemWriter } from '#engine/work.ts';
import { openProjectWork, type ProjectWork } from '../support/project-work.ts';
import { runTestGit } from '../support/temp-repo.ts';

type Listed = OutputOf<typeof listWorkspaces>;
type Cleaned = OutputOf<typeof cleanWorkspaces>;
type Rescued = OutputOf<typeof rescueWorkspaces>;
type Worktree = OutputOf<typeof makeWorktree>;
type Whereami = OutputOf<typeof whereAmI>;

let work: ProjectWork;
beforeAll(async () => {
  work = await openProjectWork({ name: 'shop' });
  await work.addAgent('w1', 'mkdir -p src; echo one > src/a.txt');
  await work.addAgent('w2', 'mkdir -p src; echo two > src/a.txt');
  await work.addAgent('slow', 'sleep 600');
  await work.project.json('project', 'add', 'shop', '.');
});
afterAll(() => work[Symbol.asyncDispose]());

const forge = () => work.project;
const store = () => work.ctx.project.store;
const list = (...flags: string[]) => forge().json<Listed>('workspace', 'list', ...flags);
const at = (cwd: string) => forge().with({ cwd });

async function attemptOf(title: string, agent: string, ...flags: string[]): Promise<Attempt> {
  const { id } = await forge().create(title, ...flags);
  await work.finish(id, agent);
  const [attempt] = await store().listAttempts({ task_id: id });
  if (attempt === undefined) throw new Error('no attempt');
  return attempt;
}

describe('whereami', () => {
  let attempt: Attempt;
  beforeAll(async () => {
    attempt = await attemptOf('[TEST] Forge Metadata Investigation', 'w1', '--github-issue', '7');
  });

  it('[S142] [S145] [S147] [S152] tells from any path inside the worktree whose it is, without a server', async () => {
    const [run] = await store().listRuns({ attempt_id: attempt.id });
    expect(attempt.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const inside = await at(join(attempt.path, 'src')).json<Whereami>('whereami');
    expect(inside).toEqual({
      project: { name: 'shop', prefix: 'fg', path: forge().path },
      task: {
        id: attempt.task_id,
        title: '[TEST] Forge Metadata Investigation',
        status: 'in_progress',
        state: 'review',
      },
      deleted_task: null,
      attempt: {
        id: attempt.id,
        name: attempt.name,
        branch: attempt.branch,
        path: attempt.path,
        state: 'active',
      },
      run: { id: run?.id, agent: 'w1', role: 'coder', state: 'completed', outcome: 'completed' },
      github_issue: 7,
      wish: null,
    });
    const byPath = await at('/').json<Whereami>('whereami', join(attempt.path, 'src', 'a.txt'));
    expect(byPath).toEqual(inside);
    expect(await at(attempt.path).text('whereami')).toMatch(/^Project +shop[^]*\nIssue +#7$/);
  });

  it('[S143] tells by the branch, in the project and elsewhere', async () => {
    const expected = { attempt: { id: attempt.id }, task: { id: attempt.task_id } };
    for (const name of [attempt.branch, `refs/heads/${attempt.branch}`, attempt.name]) {
      expect(await forge().json('whereami', name)).toMatchObject(expected);
      expect(await at('/').json('whereami', name)).toMatchObject(expected);
    }
    expect((await forge().fails('whereami', 'forge/0000-nobody')).error.code).toBe('not_found');
    expect(await forge().json('whereami')).toMatchObject({ project: { name: 'shop' }, attempt: null });
    expect((await at('/').fails('whereami')).error.code).toBe('not_a_project');
  });

  it('finds the wish by the name of the attempt, or by the title of the task, and its issue', async () => {
    const wishes = join(forge().path, '.genie', 'wishes');
    mkdirSync(join(wishes, 'other'), { recursive: true });
    mkdirSync(join(wishes, 'forge-metadata'));
    mkdirSync(join(wishes, 'forge-metadata-investigation'));
    expect(await at(attempt.path).json('whereami')).toMatchObject({ wish: 'forge-metadata-investigation' });
    mkdirSync(join(attempt.path, '.genie', 'wishes', 'a-test-forge-metadata'), { recursive: true });
    expect(await at(attempt.path).json('whereami')).toMatchObject({ wish: 'a-test-forge-metadata' });
  });

  it('tells what is left of a task that was deleted', async () => {
    const left = await attemptOf('Deleted', 'w1');
    await store().deleteTask({ id: left.task_id }, systemWriter(work.workshop.place));
    expect(await forge().json('whereami', left.branch)).toMatchObject({
      task: null,
      deleted_task: left.task_id,
      attempt: { id: left.id },
    });
    expect(await forge().text('whereami', left.branch)).toContain(`forge task restore ${left.task_id}`);
  });

  it('[S146] leaves nothing in the worktree that says so', () => {
    const status = runTestGit(attempt.path, ['status', '--porcelain', '--ignored']);
    expect(status.split('\n').filter((line) => !line.includes('.genie'))).toEqual(['']);
  });

  it('commands inside the worktree work on the graph of the project', async () => {
    const made = await at(attempt.path).create('Found on the way');
    expect(await forge().show(made.id)).toMatchObject({ title: 'Found on the way' });
    expect(existsSync(join(attempt.path, '.git', 'forge'))).toBe(false);
    const refused = await at(attempt.path).fails('init');
    expect(refused.error).toMatchObject({ code: 'already_exists' });
  });

  it('a copy of the worktree is nobody’s: it leads to no project, and makes none', async () => {
    const copy = join(dirname(forge().path), 'copy');
    cpSync(attempt.path, copy, { recursive: true });
    for (const words of [['ready'], ['whereami'], ['task', 'create', 'x'], ['init']]) {
      const { error } = await at(copy).fails(...words);
      expect([words, error.code, error.message]).toEqual([
        words,
        'not_a_project',
        `${copy} says that it is an attempt of ${forge().path}, which does not know it`,
      ]);
    }
    expect(existsSync(join(copy, '.git', 'forge'))).toBe(false);
  });
});

describe('worktrees', () => {
  it('[S140] are listed with their place, size and time', async () => {
    const attempt = await attemptOf('Listed', 'w1');
    writeFileSync(join(attempt.path, 'large'), Buffer.alloc(300_000, 1));
    const listed = await list();
    const row = listed.workspaces.find(({ attempt_id }) => attempt_id === attempt.id);
    expect(row).toMatchObject({
      task_id: attempt.task_id,
      branch: attempt.branch,
      path: attempt.path,
      agent: 'w1',
      state: 'active',
      busy: false,
      cleanup_at: null,
    });
    expect(row?.size_bytes).toBeGreaterThan(300_000);
    expect(listed).toMatchObject({ limit_bytes: 50_000_000_000, root: dirname(attempt.path) });
    expect(listed.total_bytes).toBe(
      listed.workspaces.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0),
    );
    expect(await forge().text('workspace', 'list')).toMatch(
      /ATTEMPT +TASK[^]*\n[\d.]+ kB of 50\.0 GB in use$/,
    );
  });

  it('[S220] [S347] whose time has come are removed; what was not committed comes back as a branch', async () => {
    const attempt = await attemptOf('Overdue', 'w1');
    writeFileSync(join(attempt.path, 'unsaved.txt'), 'mine\n');
    expect(await forge().json<Cleaned>('workspace', 'clean')).toEqual({ removed: [], kept: [] });
    const past = new Date(Date.now() - 1_000).toISOString();
    await store().changeAttempt({ id: attempt.id, cleanup_at: past }, systemWriter(work.workshop.place));
    const cleaned = await forge().json<Cleaned>('workspace', 'clean');
    expect(cleaned.removed).toMatchObject([{ attempt_id: attempt.id, path: attempt.path }]);
    expect(existsSync(attempt.path)).toBe(false);
    expect((await list()).workspaces.map(({ attempt_id }) => attempt_id)).not.toContain(attempt.id);
    expect((await list('--all')).workspaces.map(({ attempt_id }) => attempt_id)).toContain(attempt.id);

    const [ref] = cleaned.removed[0]?.rescued ?? [];
    const { rescues } = await forge().json<Rescued>('workspace', 'rescue', attempt.id.slice(0, 8));
    expect(rescues).toMatchObject([{ attempt_id: attempt.id, number: 1, ref, task_id: attempt.task_id }]);
    const restored = await forge().json<Rescued>('workspace', 'rescue', attempt.id, '--restore', 'saved');
    expect(restored).toMatchObject({ branch: 'saved', rescues: [{ ref }] });
    expect(forge().git('show', 'saved:unsaved.txt')).toBe('mine');
    const restore = (...words: string[]) => forge().fails('workspace', 'rescue', ...words);
    expect((await restore(attempt.id, '--restore', 'saved')).error.code).toBe('already_exists');
    expect((await restore(attempt.id, '--restore', '-x')).error.code).toBe('usage');
    expect((await restore(attempt.id, '--restore=a..b')).error.code).toBe('invalid_input');
    expect((await restore(attempt.id, '--restore=@{-1}')).error.code).toBe('invalid_input');
    expect((await restore(attempt.id, '--restore', 'x', '--number', '2')).error.code).toBe('not_found');
    expect((await restore('--restore', 'x')).error.code).toBe('usage');
    expect((await restore('zzzz')).error.code).toBe('not_found');
    forge().git('fsck', '--strict');
  });

  it('are removed by name or by age, but never under a run', async () => {
    const [named, old] = [await attemptOf('Named', 'w1'), await attemptOf('Old', 'w1')];
    const { id } = await forge().create('At work');
    const run = await work.start(id, 'slow');
    const refused = await forge().fails('workspace', 'clean', run.attempt_id);
    expect(refused.error).toMatchObject({ code: 'state_invalid', details: { attempt: run.attempt_id } });
    expect((await forge().fails('workspace', 'clean', '--all', named.id)).error.code).toBe('usage');
    expect((await forge().fails('workspace', 'clean', '--older-than', '2 hours')).error.code).toBe(
      'invalid_input',
    );
    expect((await forge().fails('workspace', 'clean', 'zzzz')).error.code).toBe('not_found');
    const byName = await forge().json<Cleaned>('workspace', 'clean', named.name);
    expect(byName.removed).toMatchObject([{ attempt_id: named.id, rescued: [] }]);
    expect(await forge().json<Cleaned>('workspace', 'clean', '--older-than', '2h')).toEqual({
      removed: [],
      kept: [],
    });
    const byAge = await forge().json<Cleaned>('workspace', 'clean', '--older-than', '0s');
    expect(byAge.removed.map(({ attempt_id }) => attempt_id)).toContain(old.id);
    expect(byAge.kept).toMatchObject([{ attempt_id: run.attempt_id, why: 'a run is at work in it' }]);
    expect(await forge().text('workspace', 'clean', '--all')).toMatch(/^Kept .*: a run is at work in it$/);
    // The branch is there, so that the work can go on.
    expect(forge().git('show', `${old.branch}:src/a.txt`)).toBe('one');
    await forge().json('runs', 'stop', run.id);
  });

  it('something else at the place of one is left alone', async () => {
    const attempt = await attemptOf('Swapped', 'w1');
    const aside = `${attempt.path}-aside`;
    cpSync(attempt.path, aside, { recursive: true });
    rmSync(attempt.path, { recursive: true });
    symlinkSync(forge().path, attempt.path);
    const cleaned = await forge().json<Cleaned>('workspace', 'clean', attempt.id);
    expect(cleaned).toMatchObject({ removed: [], kept: [{ attempt_id: attempt.id }] });
    expect(existsSync(join(forge().path, '.forge', 'config.json'))).toBe(true);
    rmSync(attempt.path);
  });
});

describe('a worktree for a person', () => {
  it('[S126] of a registered project, from anywhere, without a task', async () => {
    const made = await at('/').json<Worktree>('worktree', 'shop');
    expect(made).toMatchObject({ project: 'shop', task_id: null, created: true });
    expect(basename(made.path)).toMatch(/^[0-9a-f]{4}-shop$/);
    expect(runTestGit(made.path, ['rev-parse', '--abbrev-ref', 'HEAD'])).toBe(made.branch);
    expect(await at(made.path).json('whereami')).toMatchObject({ project: { name: 'shop' }, attempt: null });
    const row = (await list()).workspaces.find(({ path }) => path === made.path);
    expect(row).toMatchObject({ attempt_id: made.attempt_id, task_id: null, branch: made.branch });
    writeFileSync(join(made.path, 'draft.txt'), 'mine\n');
    const cleaned = await forge().json<Cleaned>('workspace', 'clean', made.attempt_id);
    const [ref = ''] = cleaned.removed[0]?.rescued ?? [];
    expect(forge().git('show', `${ref}:draft.txt`)).toBe('mine');
    expect(existsSync(made.path)).toBe(false);
  });

  it('[S126] of a task is that of its attempt, and the same the second time', async () => {
    const { id } = await forge().create('By hand');
    const made = await at('/').json<Worktree>('worktree', 'fg', id);
    const [attempt] = await forge().json<Attempt[]>('task', 'attempts', id);
    expect(made).toMatchObject({ task_id: id, attempt_id: attempt?.id, path: attempt?.path, created: true });
    expect(await forge().json('workspace', 'open', id)).toEqual({ ...made, created: false });
    expect(attempt?.agent).toBeNull();
    expect((await at('/').fails('worktree', 'nobody')).error).toMatchObject({
      code: 'not_found',
      hint: 'forge project add nobody <path of the repository>, or forge project list',
    });
    expect((await at('/').fails('worktree', 'shop', 'fg-none')).error).toMatchObject({
      code: 'not_found',
      message: 'No task fg-none',
    });
  });
});

describe('forecast', () => {
  it('names unfinished attempts that conflict with each other or with their target', async () => {
    await forge().json('workspace', 'clean', '--all');
    for (const { id } of await store().listAttempts({ state: 'active' }))
      await store().changeAttempt({ id, state: 'archived' }, systemWriter(work.workshop.place));
    expect(await forge().text('forecast')).toBe('No unfinished attempt has changes.');
    const [a, b] = [await attemptOf('One', 'w1'), await attemptOf('Two', 'w2')];
    const told = await forge().json<OutputOf<typeof forecast>>('forecast');
    expect(told).toMatchObject({
      attempts: 2,
      target: [],
      pairs: [{ a: { attempt_id: a.id }, b: { attempt_id: b.id }, files: ['src/a.txt'] }],
    });
    mkdirSync(join(forge().path, 'src'), { recursive: true });
    writeFileSync(join(forge().path, 'src', 'a.txt'), 'three\n');
    forge().git('add', 'src');
    forge().git('commit', '--quiet', '-m', 'third');
    const after = await forge().json<OutputOf<typeof forecast>>('forecast');
    expect(after.target.map(({ attempt_id, files }) => [attempt_id, files])).toEqual([
      [a.id, ['src/a.txt']],
      [b.id, ['src/a.txt']],
    ]);
    expect(await forge().text('forecast')).toContain(`${a.task_id} (${a.branch}) and main: src/a.txt`);
  });
});

describe('agent CLIs', () => {
  it('[S228] are found on the PATH, asked for their version and greeted', async () => {
    const folder = join(dirname(forge().path), 'clis');
    mkdirSync(folder);
    const answer =
      '{"type":"control_response","response":{"subtype":"success","request_id":"forge-1","response":{}}}';
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo '2.1.0 (Claude Code)'; else read -r line; echo '${answer}'; fi\n`;
    writeFileSync(join(folder, 'claude'), script, { mode: 0o755 });
    writeFileSync(join(folder, 'codex'), '#!/bin/sh\necho broken >&2\nexit 3\n', { mode: 0o755 });
    const cli = forge().with({ env: { PATH: `${folder}:/usr/bin:/bin` } });
    const clis = await cli.json<OutputOf<typeof listClis>>('clis');
    expect(clis.find(({ executor }) => executor === 'claude')).toMatchObject({
      found: true,
      path: join(folder, 'claude'),
      version: '2.1.0',
      answers: true,
      problem: null,
    });
    expect(clis.find(({ executor }) => executor === 'codex')).toMatchObject({
      found: true,
      answers: false,
      problem: expect.stringContaining('broken') as string,
    });
    expect(await cli.text('clis')).toMatch(/claude +2\.1\.0 +yes/);
  });
});
