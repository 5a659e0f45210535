import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutputOf } from '#contract/declare.ts';
import type { examineProject } from '#contract/sync-operations.ts';
import type { taskHistory } from '#contract/task-log-operations.ts';
import { forgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

type Examined = OutputOf<typeof examineProject>;
type History = OutputOf<typeof taskHistory>;

describe('forge doctor --fix', () => {
  it('makes a database anew whose feed has a damaged page, or data that is no JSON', async () => {
    await using project = await forgeProject();
    for (const title of ['One', 'Two', 'Three']) await project.create(title);
    const database = join(project.path, '.git/forge/forge.db');
    {
      using db = project.openDatabase();
      db.exec("UPDATE events SET data = '{'");
    }
    expect((await project.run('doctor')).stdout).toContain('events whose data cannot be read: 3');
    expect((await project.run('doctor', '--fix')).stderr).toContain('was made anew from the local replica');
    expect((await project.run('events')).exit).toBe(0);
    const page = ((): number => {
      using db = project.openDatabase();
      db.exec('PRAGMA wal_checkpoint(truncate)');
      return Number(
        db.prepare("SELECT rootpage AS page FROM sqlite_master WHERE name = 'events'").get()?.page,
      );
    })();
    const bytes = readFileSync(database);
    bytes.fill(0x5a, page * 4_096 - 596, page * 4_096 - 296);
    writeFileSync(database, bytes);
    expect((await project.run('doctor', '--fix')).stderr).toContain('was made anew from the local replica');
    expect(await project.text('doctor')).toMatch(/^ok\s+database\s+sound, 3 tasks$/m);
  });
});

describe('forge doctor', () => {
  it('[S395] refuses a provider of issueTracker that is none of the four, with its key', async () => {
    await using project = await forgeProject();
    const path = '.forge/config.json';
    const config = JSON.parse(await project.read(path)) as object;
    const set = (provider: string): Promise<void> =>
      project.write(path, JSON.stringify({ ...config, issueTracker: { provider } }));
    await set('gitlab');
    expect(await project.fails('doctor')).toMatchObject({
      exit: 2,
      error: {
        code: 'invalid_input',
        message: expect.stringContaining(
          'issueTracker.provider is "gitlab"; allowed is github, linear, jira, none',
        ),
        details: { key: 'issueTracker.provider' },
      },
    });
    for (const provider of ['github', 'linear', 'jira', 'none']) {
      await set(provider);
      const { exit, stdout, stderr } = await project.run('doctor');
      expect([provider, exit, stderr]).toEqual([provider, 0, '']);
      expect(stdout).toContain('Nothing is broken');
    }
  });

  it('names the command that ends a cycle of parents', async () => {
    await using project = await forgeProjectHere();
    const line = { status: 'open', created_at: '2026-01-01T00:00:00Z', created_by: 'Bo' };
    const [one, other] = ['fg-aaaa', 'fg-bbbb'];
    const lines = [
      { id: one, title: 'one', ...line, parent_id: other },
      { id: other, title: 'other', ...line, parent_id: one },
    ];
    writeFileSync(
      join(project.path, '.forge/tasks.jsonl'),
      lines.map((each) => `${JSON.stringify(each)}\n`).join(''),
    );
    await project.run('ready'); // tells what came in
    const { findings } = await project.json<Examined>('doctor');
    const found = findings.find(({ name }) => name === 'graph');
    expect(found).toMatchObject({ state: 'warning', hint: `forge task update ${one} --parent none` });
    await project.run(...(found?.hint ?? '').split(' ').slice(1));
    expect((await project.run('doctor')).stdout).toMatch(/^ok\s+graph\s/m);
  });

  it('says for people that nothing is broken, or what is and what helps', async () => {
    await using project = await forgeProject();
    const { id } = await project.create('One');
    const sound = await project.text('doctor');
    expect(sound).toMatch(/^ok\s+git\s+git \d/);
    expect(sound).toMatch(/^ok\s+database\s+sound, 1 tasks?$/m);
    expect(sound.endsWith('\nNothing is broken')).toBe(true);
    rmSync(join(project.path, '.git/hooks/pre-commit'));
    await project.run('ready'); // says once that it is gone
    using db = project.openDatabase();
    db.exec(`UPDATE tasks SET open_blockers = 3 WHERE id = '${id}'`);
    const { exit, stdout } = await project.run('doctor');
    expect(exit).toBe(1);
    const broken = stdout.trimEnd();
    expect(broken).toMatch(/^warning\s+hooks .*pre-commit \(absent\)\n {2}try: forge hooks install/m);
    expect(broken).toMatch(/^FAILED\s+database .*\n {2}try: forge doctor --fix$/m);
    expect(broken.endsWith('\nSomething is broken: see above')).toBe(true);
  });

  it('ends with 1 where something is broken, and with 0 once --fix has mended it', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('One');
    using db = project.openDatabase();
    db.exec(`UPDATE tasks SET open_blockers = 3 WHERE id = '${id}'`);
    const examine = async (...flags: string[]): Promise<[number, boolean]> => {
      const { exit, stdout } = await project.run('doctor', ...flags, '--json');
      return [exit, (JSON.parse(stdout) as Examined).healthy];
    };
    expect(await examine()).toEqual([1, false]);
    expect(await examine('--fix')).toEqual([0, true]);
    expect(await examine()).toEqual([0, true]);
    // What no flag mends stays broken.
    await project.write('.forge/workflow.json', '{"states": 7}');
    expect(await examine('--fix')).toEqual([1, false]);
  });

  it('--fix mends it once; the next look finds nothing', async () => {
    await using project = await forgeProjectHere();
    await project.create('One');
    rmSync(join(project.path, '.git/hooks/pre-commit'));
    rmSync(join(project.path, '.gitattributes'));
    await project.run('ready'); // says once that the hook is gone
    const before = await project.json<Examined>('doctor');
    expect(statesOf(before)).toEqual({ hooks: 'warning', 'git files': 'warning' });
    const mended = await project.json<Examined>('doctor', '--fix');
    expect(statesOf(mended)).toEqual({ hooks: 'fixed', 'git files': 'fixed' });
    const after = await project.json<Examined>('doctor');
    expect({ healthy: after.healthy, states: statesOf(after) }).toEqual({ healthy: true, states: {} });
  });

  it('a driver that is gone is back before doctor looks, and says so', async () => {
    await using project = await forgeProjectHere();
    project.git('config', '--remove-section', 'merge.forge');
    const { exit, stderr, stdout } = await project.run('doctor', '--json');
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: 'forge: Registered the merge driver in this clone\n',
    });
    expect(statesOf(JSON.parse(stdout) as Examined)).toEqual({});
    expect(await project.text('ready')).toBeDefined();
  });

  it('a damaged database is made anew before doctor looks; the old one is among the leftovers', async () => {
    await using project = await forgeProjectHere();
    await project.create('One');
    await project.write('.git/forge/forge.db', 'not a database');
    const { exit, stderr, stdout } = await project.run('doctor', '--json');
    expect(exit).toBe(0);
    expect(stderr).toMatch(/^forge: The task database was damaged; .*\n$/);
    expect(statesOf(JSON.parse(stdout) as Examined)).toEqual({ leftovers: 'warning' });
  });

  it('[H4] what Forge keeps is the owner’s alone, and a group’s where git shares the repository with one', async () => {
    await using project = await forgeProjectHere();
    await project.create('One');
    const store = join(project.path, '.git/forge');
    const modes = (): Record<string, number> =>
      Object.fromEntries(
        ['', 'forge.db', 'tasks.jsonl'].map((name) => [name, statSync(join(store, name)).mode & 0o777]),
      );
    expect(modes()).toEqual({ '': 0o700, 'forge.db': 0o600, 'tasks.jsonl': 0o600 });
    project.git('config', 'core.sharedRepository', 'group');
    expect(statesOf(await project.json<Examined>('doctor'))).toEqual({ permissions: 'warning' });
    expect(statesOf(await project.json<Examined>('doctor', '--fix'))).toEqual({ permissions: 'fixed' });
    const shared = { '': 0o770, 'forge.db': 0o660, 'tasks.jsonl': 0o660 };
    expect(modes()).toEqual(shared);
    for (const name of ['forge.db', 'forge.db-wal', 'forge.db-shm'])
      rmSync(join(store, name), { force: true });
    expect((await project.run('ready')).stderr).toContain('made anew');
    expect(modes()).toEqual(shared);
    expect(statesOf(await project.json<Examined>('doctor'))).toEqual({});
    // The files of the checkout are the user's, and the umask's.
    expect(statSync(join(project.path, '.forge/config.json')).mode & 0o044).toBe(0o044 & ~process.umask());
  });

  it('lines of the file that nobody can read are told at the next command and stay', async () => {
    await using project = await forgeProjectHere();
    await project.create('One');
    await project.json('export');
    appendFileSync(join(project.path, '.forge/tasks.jsonl'), 'no task\n');
    const { stderr } = await project.run('ready');
    expect(stderr).toMatch(/^forge: \.forge\/tasks\.jsonl has 1 line that cannot be read \(line 2: .*\n$/);
    expect(statesOf(await project.json<Examined>('doctor'))).toEqual({ 'task files': 'warning' });
    await project.json('export');
    expect((await project.read('.forge/tasks.jsonl')).split('\n')).toContain('no task');
  });
});

describe('forge task history --git', () => {
  it('adds the commits of every branch to what the store knows', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('One');
    const commit = async (message: string): Promise<void> =>
      void (await project.json('commit', '--message', message));
    await commit('made');
    project.git('switch', '--quiet', '-c', 'feature');
    await project.json('task', 'update', id, '--title', 'Two');
    await commit('named');
    project.git('switch', '--quiet', 'main');
    await project.json('claim', id);
    await commit('claimed');
    project.git('merge', '--quiet', 'feature', '-m', 'merged');
    const plain = await project.json<History>('task', 'history', id);
    expect(plain.every(({ seq }) => seq !== null)).toBe(true);
    const all = await project.json<History>('task', 'history', id, '--git');
    const fromGit = all.filter(({ seq }) => seq === null);
    expect(all.length).toBe(plain.length + fromGit.length);
    expect(fromGit.map(({ summary }) => summary.slice(11).split(':')[0])).toEqual(
      expect.arrayContaining(['made', 'named', 'claimed']),
    );
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted());
    expect(await project.text('task', 'history', id, '--git')).toContain('came into the file');
  });
});

/** Everything that is not all right. */
function statesOf({ findings }: Examined): Record<string, string> {
  return Object.fromEntries(
    findings
      .filter(({ state }) => state !== 'ok')
      // Not every machine has bubblewrap.
      .filter(({ name }) => name !== 'walls')
      .map(({ name, state }) => [name, state]),
  );
}
