import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { toStoreFiles } from '#store/store-location.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { initWithStore, NOON, openSyncProject, testMachine } from '../../tests/support/sync-project.ts';
import type { SyncProject } from '../../tests/support/sync-project.ts';
import { tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { catchUpWithFiles } from './catch-up.ts';
import { examineProject, type Finding } from './examine-project.ts';
import { findForgeHome } from './forge-home.ts';
import type { Machine } from './machine.ts';
import { writePushRecord } from './push-records.ts';

interface Patient {
  readonly repo: TempRepo;
  readonly machine: Machine;
  readonly project: SyncProject;
}

interface Fault {
  readonly finding: string;
  readonly state: Finding['state'];
  readonly says: RegExp;
  /** What --fix makes of it: mended, or left as it is. */
  readonly after: 'fixed' | 'same';
  readonly plant: (patient: Patient) => void | Promise<void>;
}

const AT = '2026-02-10T09:00:00.000Z';
const LINE = { title: 'x', status: 'open', created_at: AT, created_by: 'ann', updated_at: AT };

const FAULTS: Readonly<Record<string, Fault>> = {
  'the merge driver is not registered': {
    finding: 'merge driver',
    state: 'failed',
    says: /not registered/,
    after: 'fixed',
    plant: ({ repo }) => void repo.git('config', '--remove-section', 'merge.forge'),
  },
  '[A15] the user has hooks that attempts and merges do not run': {
    finding: 'your hooks',
    state: 'warning',
    says: /^a merge of Forge asks commit-msg; attempts and merges do not run pre-merge-commit \(.+hooks\)$/,
    after: 'same',
    plant: ({ repo }) => {
      for (const name of ['commit-msg', 'pre-merge-commit']) {
        writeFileSync(join(repo.path, '.git/hooks', name), '#!/bin/sh\nexit 0\n');
        chmodSync(join(repo.path, '.git/hooks', name), 0o755);
      }
    },
  },
  'a landing was not pushed': {
    finding: 'push',
    state: 'warning',
    says: /^main was not pushed: the push was rejected: no pushes on Sundays$/,
    after: 'same',
    plant: ({ project }) =>
      writePushRecord(project.paths.store_dir, {
        branch: 'main',
        commit: '0'.repeat(40),
        task_id: 'fg-a3f8',
        tries: 3,
        next_at: 0,
        why: 'the push was rejected: no pushes on Sundays',
        next: 'git push origin main',
      }),
  },
  'a hook is gone': {
    finding: 'hooks',
    state: 'warning',
    says: /not reached by git: pre-commit \(absent\)/,
    after: 'fixed',
    plant: ({ repo }) => rmSync(join(repo.path, '.git/hooks/pre-commit')),
  },
  'a hook of somebody else is in its place': {
    finding: 'hooks',
    state: 'warning',
    says: /not reached by git: pre-commit/,
    after: 'same',
    async plant({ repo }) {
      await repo.write('hooks/pre-commit', '#!/bin/sh\n');
      repo.git('add', 'hooks');
      repo.git('config', 'core.hooksPath', 'hooks');
    },
  },
  'a line is missing in .gitattributes': {
    finding: 'git files',
    state: 'warning',
    says: /lines are missing in \.gitattributes$/,
    after: 'fixed',
    plant: ({ repo }) => writeFileSync(join(repo.path, '.gitattributes'), '*.png binary\n'),
  },
  'a line is missing in .gitignore': {
    finding: 'git files',
    state: 'warning',
    says: /lines are missing in \.gitignore$/,
    after: 'fixed',
    plant: ({ repo }) => rmSync(join(repo.path, '.gitignore')),
  },
  'blockers are miscounted': {
    finding: 'database',
    state: 'failed',
    says: /^1 task with a wrong number of blockers$/,
    after: 'fixed',
    plant: ({ project }) => changeRows(project, "UPDATE tasks SET open_blockers = 7 WHERE title = 'Waits'"),
  },
  'the local replica was cut': {
    finding: 'database',
    state: 'failed',
    says: /the local replica is not complete/,
    after: 'fixed',
    plant: ({ project }) => truncateSync(toStoreFiles(project.paths.store).replica, 20),
  },
  'an edge leads nowhere in the database': {
    finding: 'database',
    state: 'failed',
    says: /1 broken reference(;|$)/,
    after: 'same',
    plant: ({ project }) =>
      changeRows(
        project,
        "INSERT INTO dependencies (from_id, to_id, dep_type) SELECT id, 'fg-none', 'related' FROM tasks WHERE title = 'Waits'",
      ),
  },
  'a task comes from the future': {
    finding: 'clock',
    state: 'warning',
    says: /changed in the future: fg-/,
    after: 'same',
    async plant({ project }) {
      await project.create('From tomorrow', {}, NOON + 86_400_000);
    },
  },
  'tasks wait for each other': {
    finding: 'graph',
    state: 'warning',
    says: /^cycles: fg-aaaa -> fg-bbbb -> fg-aaaa$/,
    after: 'same',
    plant: (patient) =>
      writeLines(patient, [
        { id: 'fg-aaaa', ...LINE, dependencies: [{ id: 'fg-bbbb', type: 'blocks' }] },
        { id: 'fg-bbbb', ...LINE, dependencies: [{ id: 'fg-aaaa', type: 'blocks' }] },
      ]),
  },
  'tasks are each other’s parents': {
    finding: 'graph',
    state: 'warning',
    says: /^cycles of parents: fg-aaaa -> fg-bbbb -> fg-aaaa$/,
    after: 'same',
    plant: (patient) =>
      writeLines(patient, [
        { id: 'fg-aaaa', ...LINE, parent_id: 'fg-bbbb' },
        { id: 'fg-bbbb', ...LINE, parent_id: 'fg-aaaa' },
      ]),
  },
  'a task names one that is not here': {
    finding: 'references',
    state: 'warning',
    says: /^not here: fg-aaaa -> fg-none, fg-bbbb -> fg-away$/,
    after: 'same',
    plant: (patient) =>
      writeLines(patient, [
        { id: 'fg-aaaa', ...LINE, dependencies: [{ id: 'fg-none', type: 'blocks' }] },
        { id: 'fg-bbbb', ...LINE, parent_id: 'fg-away' },
      ]),
  },
  'a line cannot be read': {
    finding: 'task files',
    state: 'warning',
    says: /^1 line cannot be read/,
    after: 'same',
    plant: (patient) => writeLines(patient, ['no task at all']),
  },
  'a value lost a merge': {
    finding: 'conflicts',
    state: 'warning',
    says: /^values of 1 task lost a merge$/,
    after: 'same',
    plant: (patient) =>
      writeLines(patient, [{ id: 'fg-aaaa', ...LINE, conflicts: { 'title@mlgdebft': 'Lost' } }]),
  },
  'a process died with the lock of init': {
    finding: 'leftovers',
    state: 'warning',
    says: /left by a process that is gone: .*forge-init\.lock$/,
    after: 'fixed',
    plant: ({ project }) => writeFileSync(join(project.paths.common_dir, 'forge-init.lock'), deadPid()),
  },
  'a process died while it healed': {
    finding: 'leftovers',
    state: 'warning',
    says: /left by a process that is gone: .*forge\.db\.healing$/,
    after: 'fixed',
    plant: ({ project }) => writeFileSync(`${toStoreFiles(project.paths.store).database}.healing`, deadPid()),
  },
  'a damaged database was set aside': {
    finding: 'leftovers',
    state: 'warning',
    says: /set aside: forge\.db\.damaged-1$/,
    after: 'same',
    plant({ project }) {
      writeFileSync(`${toStoreFiles(project.paths.store).database}.damaged-1`, 'x', { mode: 0o600 });
      writeFileSync(`${toStoreFiles(project.paths.store).database}.damaged-1-wal`, 'x', { mode: 0o600 });
    },
  },
  '[B11] others can read the token of the server, and change the home': {
    finding: 'permissions',
    state: 'warning',
    says: /can change files in .*; others on this machine can read .*server-token$/,
    after: 'same',
    plant({ machine }) {
      const home = findForgeHome(machine.env, machine.homeDir);
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'server-token'), 'x');
      chmodSync(join(home, 'server-token'), 0o666);
      chmodSync(home, 0o777);
    },
  },
  '[H4] others can read the database': {
    finding: 'permissions',
    state: 'warning',
    says: /^others can read the folder, forge\.db, forge\.db-shm, forge\.db-wal, tasks\.jsonl and 3 more in /,
    after: 'fixed',
    plant({ project: { paths } }) {
      mkdirSync(join(paths.store_dir, 'attempts/a'), { recursive: true });
      writeFileSync(join(paths.store_dir, 'attempts/a/run.jsonl'), '{}\n');
      for (const name of ['', 'forge.db', 'forge.db-shm', 'forge.db-wal', 'tasks.jsonl'])
        chmodSync(join(paths.store_dir, name), name === '' ? 0o755 : 0o644);
    },
  },
};

describe('forge doctor', () => {
  it('finds nothing wrong in a new project, and --fix has nothing to do', async () => {
    await using patient = await openPatient();
    for (const fix of [false, true]) {
      const findings = await examine(patient, { fix });
      expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
      expect(findings.map(({ name }) => name)).toEqual(
        [
          'git',
          'sqlite',
          'merge driver',
          'hooks',
          'git files',
          'working tree',
          'mcp entries',
          'database',
          'clock',
          'graph',
          'references',
        ].concat(['task files', 'conflicts', 'leftovers', 'permissions']),
      );
    }
  });

  const faults = Object.entries(FAULTS);
  // Those with a number of their own are told in `npm test` too.
  const numbered = faults.filter(([name]) => name.startsWith('['));
  const others = faults.filter(([name]) => !name.startsWith('['));
  it.each([...numbered, ...shareOf(others, 3)])(
    'finds that %s',
    async (_, { finding, state, says, after, plant }) => {
      await using patient = await openPatient();
      await plant(patient);
      const before = await exportAll(patient.project);
      const found = await examine(patient);
      const wrong = found.filter((one) => one.state !== 'ok');
      expect(wrong).toEqual([
        { name: finding, state, message: expect.stringMatching(says), hint: expect.any(String) },
      ]);
      // Looking changes nothing, so a second look finds the same.
      expect(await examine(patient)).toEqual(found);

      const mended = await examine(patient, { fix: true });
      const after_fix = mended.find(({ name }) => name === finding);
      expect(after_fix?.state).toBe(after === 'fixed' ? 'fixed' : state);
      const last = (await examine(patient)).filter((one) => one.state !== 'ok');
      expect(last).toEqual(after === 'fixed' ? [] : wrong);
      expect(await exportAll(patient.project), 'no task and no edge is touched').toEqual(before);
    },
  );

  it('mends the count and the replica for good: a database made of the replica is sound', async () => {
    await using patient = await openPatient();
    const { project, machine, repo } = patient;
    changeRows(project, 'UPDATE tasks SET open_blockers = 7');
    truncateSync(toStoreFiles(project.paths.store).replica, 0);
    const before = await exportAll(project);
    await examine(patient, { fix: true });
    await project[Symbol.asyncDispose]();
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(toStoreFiles(project.paths.store).database + suffix, { force: true });
    await using again = await openSyncProject(repo.path, machine);
    expect(await exportAll(again)).toEqual(before);
    const findings = await examineProject({
      project: again,
      machine,
      by: again.by,
      fix: false,
      pr: undefined,
    });
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  });

  it('puts the link to the database back', async () => {
    await using patient = await openPatient();
    const link = join(patient.repo.path, '.forge', 'forge.db');
    unlinkSync(link);
    await examine(patient, { fix: true });
    expect(existsSync(link)).toBe(true);
  });

  it('tells how the tasks are shared where there is a remote', async () => {
    await using patient = await openPatient();
    patient.repo.git('remote', 'add', 'origin', '../nowhere');
    const [sharing] = (await examine(patient)).filter(({ name }) => name === 'sharing');
    expect(sharing).toMatchObject({ state: 'ok', message: expect.stringContaining('sync.exportOn') });
  });

  it('names a git that is too old, or missing, and examines the rest', async () => {
    await using patient = await openPatient();
    const bin = join(dirname(patient.repo.path), 'old');
    mkdirSync(bin);
    const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
    const old = `#!/bin/sh\n[ "$1" = --version ] && echo 'git version 2.30.2' && exit\nexec '${real}' "$@"\n`;
    writeFileSync(join(bin, 'git'), old, { mode: 0o755 });
    const aged = await examine(withPath(patient, `${bin}:${process.env['PATH']}`));
    expect(aged[0]).toMatchObject({
      name: 'git',
      state: 'failed',
      message: expect.stringContaining('2.30.2'),
    });
    const none = await examine(withPath(patient, join(bin, 'empty')));
    expect(none[0]).toMatchObject({ name: 'git', state: 'failed' });
    expect(none.find(({ name }) => name === 'database')).toMatchObject({ state: 'ok' });
  });

  it('has no opinion on hooks and drivers where git does not carry the tasks', async () => {
    await using patient = await openPatient({ stealth: true });
    const findings = await examine(patient);
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(findings.map(({ name }) => name)).not.toContain('merge driver');
  });
});

describe('forge doctor --pr', () => {
  it('tells whether a server would merge the task files', async () => {
    await using patient = await openPatient();
    const { repo } = patient;
    const pr = async (): Promise<Finding | undefined> =>
      (await examine(patient, { pr: 'main' })).find(({ name }) => name === 'pull request');
    const commit = (text: string): void => {
      writeFileSync(join(repo.path, '.forge/tasks.jsonl'), text);
      repo.git('add', '-A');
      repo.git('commit', '--quiet', '--no-verify', '-m', 'x');
    };
    expect(await pr()).toMatchObject({ state: 'warning', message: expect.stringContaining('main') });
    commit('{"id":"fg-aaaa"}\n');
    repo.git('switch', '--quiet', '-c', 'feature');
    commit('{"id":"fg-aaaa"}\n{"id":"fg-feat"}\n');
    expect(await pr()).toMatchObject({ state: 'ok' });
    repo.git('switch', '--quiet', 'main');
    commit('{"id":"fg-aaaa"}\n{"id":"fg-main"}\n');
    repo.git('switch', '--quiet', 'feature');
    expect(await pr()).toEqual({
      name: 'pull request',
      state: 'warning',
      message: 'a server would find a conflict in .forge/tasks.jsonl',
      hint: 'git merge main',
    });
    expect(await examine(patient, { pr: 'no-such-branch' })).toContainEqual(
      expect.objectContaining({ name: 'pull request', state: 'warning' }),
    );
  });
});

/** A project with two tasks, one of which waits for the other. */
async function openPatient(wishes: { stealth?: boolean } = {}): Promise<Patient & AsyncDisposable> {
  const repo = await tempRepo();
  const machine = testMachine(dirname(repo.path));
  await initWithStore(repo.path, machine, wishes);
  const project = await openSyncProject(repo.path, machine);
  const first = await project.create('First');
  await project.create('Waits', { depends_on: [first.id] });
  return {
    repo,
    machine,
    project,
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
    },
  };
}

function examine(
  { project, machine }: Patient,
  { fix = false, pr }: { fix?: boolean; pr?: string } = {},
): Promise<Finding[]> {
  return examineProject({ project, machine, by: project.by, fix, pr });
}

function withPath(patient: Patient, path: string): Patient {
  const { machine } = patient;
  return { ...patient, machine: { ...machine, env: { ...machine.env, PATH: path } } };
}

/** What somebody's editor, or a merge, left in the file; the next command takes it over. */
async function writeLines({ project, machine }: Patient, lines: readonly (string | object)[]): Promise<void> {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  appendFileSync(join(project.paths.forge_dir, 'tasks.jsonl'), `${texts.join('\n')}\n`);
  const tell = { clock: () => machine.clock.now(), notice: () => undefined, env: machine.env };
  await catchUpWithFiles(project.store, project, tell);
}

/** By another SQLite client, with nothing in the database that could keep it from it. */
function changeRows({ paths }: SyncProject, sql: string): void {
  const db = new DatabaseSync(toStoreFiles(paths.store).database, { enableForeignKeyConstraints: false });
  const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${String(name)}"`);
  db.exec(sql);
  for (const { sql: made } of triggers) db.exec(String(made));
  db.close();
}

async function exportAll({ store }: SyncProject): Promise<string[]> {
  const lines: string[] = [];
  for await (const part of store.exportTasks('')) lines.push(...part.lines.map(String));
  return lines;
}

function deadPid(): string {
  return String(spawnSync(process.execPath, ['-e', '0']).pid);
}
